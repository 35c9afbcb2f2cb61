// The inputs of an interleave that are being read, and the sum of all inputs' statistics so far, a row for each stage.
// Stages that not all inputs have are left out.
#pragma once
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "core/data/dataset.h"

namespace gpubench {

using Inputs = std::shared_ptr<const std::vector<DatasetPtr>>;

/// Any thread may call anything.
class OpenInputs {
 public:
  OpenInputs(Inputs inputs, std::uint64_t epoch, const CursorOptions& options)
      : inputs_(std::move(inputs)), epoch_(epoch), options_(options) {}

  std::size_t count() const { return inputs_->size(); }
  std::unique_ptr<Cursor> open(std::size_t input);
  /// Keeps its figures. A cursor that does not come back must live for as long as figures are asked for.
  void close(std::size_t input, std::unique_ptr<Cursor> cursor);
  std::vector<StageStatistics> statistics() const;

 private:
  const Inputs inputs_;
  const std::uint64_t epoch_;
  const CursorOptions options_;
  mutable std::mutex mutex_;                      // for all that follows
  std::map<std::size_t, const Cursor*> cursors_;  // by input
  std::vector<StageStatistics> closed_;
};

}  // namespace gpubench
