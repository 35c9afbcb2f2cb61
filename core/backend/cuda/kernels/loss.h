// Cross-entropy of rows of classes, and its gradients.
#pragma once
#include <cstdint>

#include "core/backend/cuda/kernels/launch.h"
#include "core/tensor/dtype.h"

namespace gpubench::cuda {

/// Either distributions of the predictions' type, or class indices. A class index out of range cannot raise an Error,
/// because the host does not wait: its row's loss or gradient becomes NaN.
struct Labels {
  const void* data = nullptr;
  Dtype type = Dtype::f32;
  bool sparse = false;
};

/// Shape of the predictions, [rows, columns] of one floating type.
struct LossShape {
  std::int64_t rows = 0, columns = 0;
  Dtype type = Dtype::f32;
};

cudaError_t launch_cross_entropy(const LaunchOn& on, const LossShape& shape, const void* probabilities,
                                 const Labels& labels, void* loss);
/// `gradient` may be `probabilities`.
cudaError_t launch_cross_entropy_gradient(const LaunchOn& on, const LossShape& shape, const void* dloss,
                                          const void* probabilities, const Labels& labels, void* gradient);
/// `probabilities` may be `logits`.
cudaError_t launch_softmax_cross_entropy(const LaunchOn& on, const LossShape& shape, const void* logits,
                                         const Labels& labels, void* loss, void* probabilities);
/// `gradient` may be `probabilities`.
cudaError_t launch_softmax_cross_entropy_gradient(const LaunchOn& on, const LossShape& shape, const void* dloss,
                                                  const void* probabilities, const Labels& labels, void* gradient);

}  // namespace gpubench::cuda
