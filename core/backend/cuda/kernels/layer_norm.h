// Normalization of the rows of a matrix [rows, channels] by their own statistics, and its gradients. Statistics are
// float32. Sums over rows are float32 too, in an order that only the shape and the GPU determine.
#pragma once
#include <cstddef>
#include <cstdint>

#include "core/backend/cuda/kernels/launch.h"
#include "core/tensor/dtype.h"

namespace gpubench::cuda {

struct LayerNormShape {
  std::int64_t rows = 0;
  std::int64_t channels = 0;
  std::int64_t parts = 1;  ///< into which the rows are divided for the parameters' gradients
  float epsilon = 0;
  bool centered = true;           ///< layer norm; false: RMS norm, without mean and beta
  Dtype dtype = Dtype::f32;       ///< of x, y and their gradients
  Dtype parameters = Dtype::f32;  ///< of all tensors [channels]
};

/// The most parts that fill the GPU; those of the shape are ignored.
std::int64_t layer_norm_parts(const LayerNormShape& shape, int multiprocessors);
/// Bytes of float32 workspace for the gradient.
std::size_t layer_norm_workspace(const LayerNormShape& shape);

/// Memory of one run; y may be x, dx may be x or dy. Null without a mean: beta, mean, dbeta.
struct LayerNormForward {
  const void *x, *gamma, *beta;
  void* y;
  float *mean, *inverse;
};
struct LayerNormBackward {
  const void *x, *gamma, *dy;
  const float *mean, *inverse;
  void *dx, *dgamma, *dbeta;
};

cudaError_t launch_layer_norm(const LaunchOn& on, const LayerNormShape& shape, const LayerNormForward& memory);
cudaError_t launch_layer_norm_gradient(const LaunchOn& on, const LayerNormShape& shape, const LayerNormBackward& memory,
                                       float* workspace);

}  // namespace gpubench::cuda
