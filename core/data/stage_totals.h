// Statistics of a pipeline's stages over several epochs, each of which has its own cursor.
#pragma once
#include <vector>

#include "core/data/cursor.h"

namespace gpubench {

/// Elements in the buffers of stages with threads, produced ahead of the consumer.
std::int64_t ready_elements(const Cursor& cursor);

/// Adds `sign` times the counts and times of `other`; workers and buffers stay, because they are momentary values.
void add_counts(StageStatistics& stage, const StageStatistics& other, int sign = 1);

class StageTotals {
 public:
  /// Starts counting, in the middle of an epoch whose statistics are `now`.
  void begin(std::vector<StageStatistics> now);
  /// Ends an epoch with statistics `now`; the next one starts from zero.
  void end_epoch(const std::vector<StageStatistics>& now);
  /// The totals at the end of the last epoch; empty before that.
  const std::vector<StageStatistics>& ended() const { return ended_; }
  /// Totals since begin(), when the running epoch has reached `now`. Workers and buffers are those of `now`.
  std::vector<StageStatistics> totals(const std::vector<StageStatistics>& now) const;

 private:
  std::vector<StageStatistics> begun_, ended_;
};

}  // namespace gpubench
