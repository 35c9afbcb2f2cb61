// Normalization of the columns of a matrix [rows, channels], and its derivatives. Sums are of float32, in an order that
// the shape and the GPU fix: each part of the rows by itself, then the parts one after the other.
#pragma once
#include <cstddef>
#include <cstdint>

#include "core/backend/cuda/kernels/launch.h"
#include "core/tensor/dtype.h"

namespace gpubench::cuda {

struct BatchNormShape {
  std::int64_t rows = 0;
  std::int64_t channels = 0;
  std::int64_t parts = 1;  ///< that the rows are summed in
  float epsilon = 0;
  Dtype dtype = Dtype::f32;       ///< of x and y, and their gradients
  Dtype parameters = Dtype::f32;  ///< of all that is [channels]
};

/// How many parts fill the GPU.
std::int64_t batch_norm_parts(std::int64_t rows, std::int64_t channels, int multiprocessors);
/// Bytes of float32 that the launches below need.
std::size_t batch_norm_workspace(const BatchNormShape& shape);

/// Memory of one run. y may be x; dx may be x or dy.
struct BatchNormForward {
  const void *x, *gamma, *beta;
  void *y, *mean, *variance;
};
struct BatchNormInferenceForward {
  const void *x, *gamma, *beta, *mean, *variance;
  void* y;
};
struct BatchNormBackward {
  const void *x, *gamma, *mean, *variance, *dy;
  void *dx, *dgamma, *dbeta;
};

cudaError_t launch_batch_norm(const LaunchOn& on, const BatchNormShape& shape, const BatchNormForward& memory,
                              float* workspace);
cudaError_t launch_batch_norm_inference(const LaunchOn& on, const BatchNormShape& shape,
                                        const BatchNormInferenceForward& memory);
/// Where the statistics are constants, dx is dy scaled.
cudaError_t launch_batch_norm_gradient(const LaunchOn& on, const BatchNormShape& shape, const BatchNormBackward& memory,
                                       bool statistics_depend_on_x, float* workspace);

}  // namespace gpubench::cuda
