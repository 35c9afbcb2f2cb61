#include "core/data/epoch_record.h"

namespace gpubench {

std::vector<StageStatistics> PipelineRecord::statistics() const {
  const std::lock_guard lock(mutex_);
  return running_ != nullptr ? running_->statistics() : last_;
}

std::optional<int> PipelineRecord::learnt(const Dataset* stage) const {
  const std::lock_guard lock(mutex_);
  const auto found = learnt_.find(stage);
  return found == learnt_.end() ? std::nullopt : std::optional(found->second);
}

void PipelineRecord::learn(const Dataset* stage, int setting) {
  const std::lock_guard lock(mutex_);
  learnt_[stage] = setting;
}

void PipelineRecord::running(const Cursor& cursor) {
  const std::lock_guard lock(mutex_);
  running_ = &cursor;
}

void PipelineRecord::ended(const Cursor& cursor) {
  const std::lock_guard lock(mutex_);
  if (running_ != &cursor) return;
  last_ = running_->statistics();
  running_ = nullptr;
}

}  // namespace gpubench
