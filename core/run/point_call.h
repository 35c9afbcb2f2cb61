// What one call of a script's `run` gave: the rows of this process, and those of the others once all have agreed what
// became of the point. This is where a row of a script becomes one of the program.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/group/process_group.h"
#include "core/results/doubt.h"
#include "core/results/info.h"
#include "core/results/record.h"
#include "core/trace/timeline.h"

namespace gpubench {

/// A row, and what goes into files of its own: step times in seconds, the spans of the traced steps, and a profile of
/// layers and ops.
struct MeasuredRow {
  Record row;
  std::vector<double> samples = {};
  std::shared_ptr<const Timeline> timeline = {};
  std::optional<Info> profile = {};
};

class PointCall {
 public:
  /// `axes`: the point's values, which the rows have too. A row without a status is ok. Throws Error for a row that
  /// check_returned_row() refuses.
  PointCall(std::vector<MeasuredRow> rows, Record axes);

  const std::vector<MeasuredRow>& measured() const { return rows_; }
  std::vector<Record> rows() const;
  /// Whether a row says that the point could not be measured.
  bool has_failed() const;

  /// What this process met during the call. A row that another process has measured for it keeps the figures of that
  /// one. `kept_memory`: what is still in use behind the point.
  void set_conditions(std::optional<double> lost_share, std::optional<double> clock_hz,
                      const std::optional<std::string>& kept_memory);

  /// Leaves of each row its axes, with this status.
  void fail(const std::string& status, const std::optional<std::string>& detail);
  /// Concludes the point with the other processes: `status` ("ok", one of rows, or why this process leaves the sweep)
  /// and `detail` are this one's. Returns the status for all: that of the gravest outcome, which all rows have then.
  /// Otherwise the rows are those of all processes. A collective call; throws as ProcessGroup::conclude() does.
  std::string agree(ProcessGroup& group, const std::string& status, const std::optional<std::string>& detail);

  /// The largest share of the processor time that others took from a row's process.
  double lost_share() const;
  /// Why the times of the call do not count; no doubt where they do.
  Doubt disturbance() const;

 private:
  std::vector<MeasuredRow> rows_;
  Record axes_;
};

}  // namespace gpubench
