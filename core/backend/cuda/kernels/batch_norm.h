// Batch normalization of the columns of a matrix [rows, channels], and its gradients. Sums are float32, in an order
// that only the shape and the GPU determine: within each part of the rows, then over the parts.
#pragma once
#include <cstddef>
#include <cstdint>

#include "core/backend/cuda/kernels/launch.h"
#include "core/tensor/dtype.h"

namespace gpubench::cuda {

struct BatchNormShape {
  std::int64_t rows = 0;
  std::int64_t channels = 0;
  std::int64_t parts = 1;  ///< into which the rows are divided for summing
  float epsilon = 0;
  Dtype dtype = Dtype::f32;       ///< of x, y and their gradients
  Dtype parameters = Dtype::f32;  ///< of all tensors [channels]
};

/// The most parts that fill the GPU; those of the shape are ignored.
std::int64_t batch_norm_parts(const BatchNormShape& shape, int multiprocessors);
/// Bytes of float32 workspace for the launches below.
std::size_t batch_norm_workspace(const BatchNormShape& shape);

/// Memory of one run. y may be x; dx may be x or dy.
struct BatchNormForward {
  const void *x, *gamma, *beta;
  void *y, *mean, *variance;
  const void* shortcut = nullptr;  ///< is added before relu
  bool relu = false;
};
struct BatchNormInferenceForward {
  const void *x, *gamma, *beta, *mean, *variance;
  void* y;
  const void* shortcut = nullptr;
  bool relu = false;
};
/// Where relu followed: `beta`, from which its sign is computed again, or `y` and `dshortcut`, which may be dy.
struct BatchNormBackward {
  const void *x, *gamma, *mean, *variance, *dy;
  void *dx, *dgamma, *dbeta;
  const void* beta = nullptr;
  const void* y = nullptr;
  void* dshortcut = nullptr;
};

cudaError_t launch_batch_norm(const LaunchOn& on, const BatchNormShape& shape, const BatchNormForward& memory,
                              float* workspace);
cudaError_t launch_batch_norm_inference(const LaunchOn& on, const BatchNormShape& shape,
                                        const BatchNormInferenceForward& memory);
/// Where the statistics are constants, dx is only a scaled dy.
cudaError_t launch_batch_norm_gradient(const LaunchOn& on, const BatchNormShape& shape, const BatchNormBackward& memory,
                                       bool statistics_depend_on_x, float* workspace);

}  // namespace gpubench::cuda
