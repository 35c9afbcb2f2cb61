// Finds the largest batch with which a model trains within a memory limit. Predictions, which allocate nothing, choose
// a size; real steps, whose effects are undone, verify it.
#pragma once
#include <cstdint>
#include <functional>
#include <vector>

#include "core/data/dataset.h"
#include "core/train/trainer.h"

namespace gpubench {

/// Real steps with one batch size.
struct BatchSizeTrial {
  std::int64_t batch_size = 0;
  std::size_t predicted = 0;  ///< bytes in use, including what was in use before
  std::size_t used = 0;       ///< peak of the device's pool; 0 if it ran out of memory
  bool fits = false;
};

struct BatchSizeSearch {
  std::int64_t batch_size = 0;
  std::size_t limit = 0;  ///< bytes
  std::vector<BatchSizeTrial> trials;
};

struct BatchSizeOptions {
  /// Bytes that the device may have in use, including other allocations; 0: its pool's own limit.
  std::size_t limit = 0;
  std::int64_t largest = 0;  ///< upper limit, such as the number of examples; 0: unknown
  int most_trials = 4;
};

/// A dataset with batches of `batch_size` examples.
using BatchSource = std::function<DatasetPtr(std::int64_t batch_size)>;

/// Restores weights, optimizer and metrics afterwards; releases the trainer's plans. Sizes are multiples of
/// gradient_accumulation_steps. Throws Error if there is no limit, if it is below the memory of the variables or of the
/// smallest batch, if the model is on several devices, and if no trial fitted.
BatchSizeSearch find_batch_size(Trainer& trainer, const BatchSource& batches, const BatchSizeOptions& options);

}  // namespace gpubench
