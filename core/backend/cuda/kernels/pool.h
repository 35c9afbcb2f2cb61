// Maximum and mean over sliding windows of images [batch, height, width, channels], and their gradients.
#pragma once
#include <cstdint>

#include "core/backend/cuda/kernels/launch.h"
#include "core/tensor/dtype.h"

namespace gpubench::cuda {

/// Extents of one image, its result and its window; an image has at most 2^31 - 1 elements.
struct PoolGeometry {
  std::int64_t batch = 0;
  int height = 0, width = 0, channels = 0;
  int out_height = 0, out_width = 0;
  int size[2] = {}, strides[2] = {}, before[2] = {};
  Dtype dtype = Dtype::f32;
  Dtype winner = Dtype::u8;  ///< or int32
};

cudaError_t launch_max_pool(const LaunchOn& on, const PoolGeometry& pool, void* y, void* winners, const void* x);
cudaError_t launch_max_pool_gradient(const LaunchOn& on, const PoolGeometry& pool, void* dx, const void* dy,
                                     const void* winners);
cudaError_t launch_average_pool(const LaunchOn& on, const PoolGeometry& pool, void* y, const void* x);
cudaError_t launch_average_pool_gradient(const LaunchOn& on, const PoolGeometry& pool, void* dx, const void* dy);

}  // namespace gpubench::cuda
