#include "core/data/stage_totals.h"

#include <utility>

namespace gpubench {
namespace {

/// Adds `sign` times the statistics of the stages that both have. A stage that opens sources as it runs may have new
/// ones, which count from zero.
void add(std::vector<StageStatistics>& stages, const std::vector<StageStatistics>& others, int sign) {
  if (stages.size() != others.size()) return;
  for (std::size_t i = 0; i < stages.size(); ++i) {
    StageStatistics& stage = stages[i];
    const StageStatistics& other = others[i];
    if (stage.stage != other.stage) continue;
    add_counts(stage, other, sign);
  }
}

}  // namespace

void add_counts(StageStatistics& stage, const StageStatistics& other, int sign) {
  stage.produced += sign * other.produced;
  stage.bytes += sign * other.bytes;
  stage.errors += sign * other.errors;
  stage.busy += sign * other.busy;
  stage.starved += sign * other.starved;
  stage.blocked += sign * other.blocked;
  stage.waiting += sign * other.waiting;
  stage.source += sign * other.source;
  stage.threads.cpu += sign * other.threads.cpu;
  stage.threads.ready += sign * other.threads.ready;
}

std::int64_t ready_elements(const Cursor& cursor) {
  std::int64_t ready = 0;
  for (const StageStatistics& stage : cursor.statistics()) ready += stage.workers > 0 ? stage.buffered : 0;
  return ready;
}

void StageTotals::begin(std::vector<StageStatistics> now) {
  begun_ = std::move(now);
  ended_.clear();
}

void StageTotals::end_epoch(const std::vector<StageStatistics>& now) {
  ended_ = totals(now);
  begun_.clear();
}

std::vector<StageStatistics> StageTotals::totals(const std::vector<StageStatistics>& now) const {
  std::vector<StageStatistics> sum = now;
  add(sum, begun_, -1);
  add(sum, ended_, 1);
  return sum;
}

}  // namespace gpubench
