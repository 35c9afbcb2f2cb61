// A run while it goes on: its files, the probes that watch it, the point that is being measured, and how it ends, with
// its script or without. Every run gets the machine's facts at its start and the process's own figures at its end, so
// that no script can forget them.
#pragma once
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/group/process_group.h"
#include "core/report/page/finish.h"
#include "core/report/text/row_stream.h"
#include "core/results/run_writer.h"
#include "core/run/unfinished_runs.h"
#include "core/telemetry/proc/process_probes.h"
#include "core/trace/timeline.h"

namespace gpubench {

/// What a measured row has beside its columns: step times in seconds, the spans of the traced steps, and a profile of
/// layers and ops, which go into files of their own.
struct RowExtras {
  std::vector<double> samples = {};
  std::shared_ptr<const Timeline> timeline = {};
  std::optional<Info> profile = {};
};

/// Its files are written by one thread at a time; another one may end it at any moment (give_up()).
class LiveRun final : public UnfinishedRun {
 public:
  /// Makes the run's folder and writes what is known at its start. `group`: the processes that run together; nullptr:
  /// there is one. `unfinished` and `group` must outlive the run.
  LiveRun(RunPlan plan, const std::vector<ChartSpec>& charts, std::vector<Expectation> claims, ChartFormats formats,
          const ProcessGroup* group, UnfinishedRuns& unfinished);
  /// A run that ends between two points because a process was lost has no row that says so; run.json says it.
  ~LiveRun() override;
  LiveRun(const LiveRun&) = delete;
  LiveRun& operator=(const LiveRun&) = delete;

  /// The point that is measured next: its axes and number, and what to call it.
  void begin(Record row, const std::string& text);
  /// Writes a row, and its extras into files that are named after its point. Throws Error.
  void add(Record row, const RowExtras& extras);
  /// Writes what one of several rounds of a point measured: row `index`, from 1, of `round`, from 1.
  void add_round(const Record& row, std::int64_t round, std::int64_t index, const std::vector<double>& samples);
  /// Replaces the rows of these points, the last ones, when their rounds are over.
  void replace(std::vector<Record> rows);
  /// Merges named fields into run.json. `warnings` (texts) stand above all else in the report.
  void set_info(const Info& fields);
  /// `charts` and `expectations` as in run.json; `status`: "done", "interrupted" or "error".
  FinishedRun finish(const std::string& status, std::vector<ChartSpec> charts, std::vector<Expectation> expectations);
  std::string give_up(const GivenUp& how) noexcept override;

  /// Why the device was not busy, by the figures that a row ends up with (rounds are merged, and scripts may change
  /// columns); its own cell for a row without measured steps.
  std::optional<std::string> verdict(const Record& row) const;

  std::string directory() const { return writer_.directory().string(); }
  std::string name() const { return writer_.name(); }
  std::vector<Record> rows() const { return writer_.records(); }

  /// What a run prints above its rows, of each row, and below them. The first one comes first.
  std::string opening(const TextStyle& style);
  std::string row_text(const Record& row, std::size_t width);
  std::string closing(const TextStyle& style) const;

 private:
  Run run() const { return {writer_.directory(), writer_.columns(), writer_.records(), writer_.info()}; }
  std::filesystem::path file_of_point(std::string_view what) const;
  void set_last_facts(const std::string& detail);

  RunWriter writer_;
  ChartFormats formats_;
  const ProcessGroup* group_;
  UnfinishedRuns& unfinished_;
  std::mutex mutex_;
  std::optional<std::pair<Record, std::string>> begun_;
  std::optional<RowStream> rows_;
  CpuProbe cpu_;
  MemoryProbe memory_;
};

}  // namespace gpubench
