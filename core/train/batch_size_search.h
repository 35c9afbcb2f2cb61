// The largest batch that a model trains on within a limit of memory: found by predictions, which take none, and then
// proved by real steps, whose traces are wiped.
#pragma once
#include <cstdint>
#include <functional>
#include <vector>

#include "core/data/dataset.h"
#include "core/train/trainer.h"

namespace gpubench {

/// Real steps with one size of batch.
struct BatchSizeTrial {
  std::int64_t batch_size = 0;
  std::size_t predicted = 0;  ///< bytes in use, with what was in use before
  std::size_t used = 0;       ///< of the device's pool at its peak; 0 where it ran out
  bool fits = false;
};

struct BatchSizeSearch {
  std::int64_t batch_size = 0;
  std::size_t limit = 0;  ///< bytes
  std::vector<BatchSizeTrial> trials;
};

struct BatchSizeOptions {
  /// Bytes that the device may have in use, with what else is there; 0: its pool's own limit.
  std::size_t limit = 0;
  std::int64_t largest = 0;  ///< no more than there are examples; 0: not known
  int most_trials = 4;
};

/// A dataset of batches of so many examples.
using BatchSource = std::function<DatasetPtr(std::int64_t batch_size)>;

/// Weights, optimizer and metrics are afterwards as they were; the trainer's plans are released. Sizes are multiples of
/// gradient_accumulation_steps. Throws Error where there is no limit, where it is below what the variables take or the
/// smallest batch needs, where the model is on several devices, and when no trial fitted.
BatchSizeSearch find_batch_size(Trainer& trainer, const BatchSource& batches, const BatchSizeOptions& options);

}  // namespace gpubench
