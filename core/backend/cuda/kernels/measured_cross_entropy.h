// Softmax cross-entropy of a small batch with its gradient, its metrics and their means, in one block: such a batch is
// done before the next kernel could start.
#pragma once
#include <cstdint>

#include "core/backend/cuda/kernels/loss.h"

namespace gpubench::cuda {

/// float32 only.
struct MeasuredLoss {
  static constexpr int most_metrics = 4;

  std::int64_t rows = 0, columns = 0;
  Labels labels{};
  const float *logits = nullptr, *dloss = nullptr;
  float *probabilities = nullptr, *gradient = nullptr;  ///< no gradient: only the probabilities
  /// Metrics: whether the label is among the k[i] largest logits or probabilities.
  bool of_logits = false;
  int metrics = 0;
  std::int64_t k[most_metrics] = {};
  /// (sum, count) of the loss and of each metric.
  float* figures[1 + most_metrics] = {};
  bool adds = false;  ///< whether figures add to what is there
};

/// Whether one block takes no longer than one kernel for each part.
bool fits_a_block(const MeasuredLoss& measured);

cudaError_t launch_measured_cross_entropy(const LaunchOn& on, const MeasuredLoss& measured);

}  // namespace gpubench::cuda
