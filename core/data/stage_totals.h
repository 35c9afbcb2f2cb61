// Statistics of a pipeline's stages over several epochs, each of which has a cursor of its own.
#pragma once
#include <vector>

#include "core/data/cursor.h"

namespace gpubench {

/// Elements in the buffers of stages with threads: made ahead of the consumer.
std::int64_t ready_elements(const Cursor& cursor);

/// Adds `sign` times the counts and times of `other`; workers and buffers stay, since they describe a moment.
void add_counts(StageStatistics& stage, const StageStatistics& other, int sign = 1);

class StageTotals {
 public:
  /// Counts from here on, in the midst of an epoch whose statistics are `now`.
  void begin(std::vector<StageStatistics> now);
  /// An epoch ends with `now`; the next one starts from nothing.
  void end_epoch(const std::vector<StageStatistics>& now);
  /// The totals when the last epoch ended; empty before that.
  const std::vector<StageStatistics>& ended() const { return ended_; }
  /// What the stages did since begin(), where the epoch under way has come to `now`. Workers and buffers are those of
  /// now.
  std::vector<StageStatistics> totals(const std::vector<StageStatistics>& now) const;

 private:
  std::vector<StageStatistics> begun_, ended_;
};

}  // namespace gpubench
