// What the epochs of a dataset leave behind: the statistics of the running or last one, and the settings that its tuner
// arrived at, with which the next one starts.
#pragma once
#include <map>
#include <mutex>
#include <optional>
#include <vector>

#include "core/data/cursor.h"

namespace gpubench {

class Dataset;

/// Any thread may call.
class PipelineRecord {
 public:
  /// Empty before the first epoch.
  std::vector<StageStatistics> statistics() const;
  std::optional<int> learnt(const Dataset* stage) const;

  void learn(const Dataset* stage, int setting);
  /// From now on `cursor` is the latest epoch.
  void running(const Cursor& cursor);
  /// Keeps its statistics, if it is the latest epoch.
  void ended(const Cursor& cursor);

 private:
  mutable std::mutex mutex_;
  const Cursor* running_ = nullptr;
  std::vector<StageStatistics> last_;
  std::map<const Dataset*, int> learnt_;
};

}  // namespace gpubench
