// The open inputs of an interleave, and the sum of all inputs' statistics so far, a row per stage. Stages that only
// some inputs have are left out.
#pragma once
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "core/data/dataset.h"

namespace gpubench {

using Inputs = std::shared_ptr<const std::vector<DatasetPtr>>;

/// Thread-safe.
class OpenInputs {
 public:
  OpenInputs(Inputs inputs, std::uint64_t epoch, const CursorOptions& options)
      : inputs_(std::move(inputs)), epoch_(epoch), options_(options) {}

  std::size_t count() const { return inputs_->size(); }
  std::unique_ptr<Cursor> open(std::size_t input);
  /// Adds the cursor's statistics to the sum and closes it. A cursor that is never closed must outlive statistics().
  void close(std::size_t input, std::unique_ptr<Cursor> cursor);
  std::vector<StageStatistics> statistics() const;

 private:
  const Inputs inputs_;
  const std::uint64_t epoch_;
  const CursorOptions options_;
  mutable std::mutex mutex_;                      // guards all members below
  std::map<std::size_t, const Cursor*> cursors_;  // by input
  std::vector<StageStatistics> closed_;
};

}  // namespace gpubench
