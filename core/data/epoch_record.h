// State that a dataset keeps between epochs: statistics of the running or last epoch, and the settings found by its
// tuner, with which the next epoch starts.
#pragma once
#include <map>
#include <mutex>
#include <optional>
#include <vector>

#include "core/data/cursor.h"

namespace gpubench {

class Dataset;

/// Thread-safe.
class EpochRecord {
 public:
  /// Empty before the first epoch.
  std::vector<StageStatistics> statistics() const {
    const std::lock_guard lock(mutex_);
    return running_ != nullptr ? running_->statistics() : last_;
  }
  std::optional<int> learnt(const Dataset* stage) const {
    const std::lock_guard lock(mutex_);
    const auto found = learnt_.find(stage);
    return found == learnt_.end() ? std::nullopt : std::optional(found->second);
  }

  void learn(const Dataset* stage, int setting) {
    const std::lock_guard lock(mutex_);
    learnt_[stage] = setting;
  }
  /// Makes `cursor` the latest epoch.
  void running(const Cursor& cursor) {
    const std::lock_guard lock(mutex_);
    running_ = &cursor;
  }
  /// Keeps the cursor's statistics if it is the latest epoch.
  void ended(const Cursor& cursor) {
    const std::lock_guard lock(mutex_);
    if (running_ != &cursor) return;
    last_ = running_->statistics();
    running_ = nullptr;
  }

 private:
  mutable std::mutex mutex_;
  const Cursor* running_ = nullptr;
  std::vector<StageStatistics> last_;
  std::map<const Dataset*, int> learnt_;
};

}  // namespace gpubench
