// Tiles of all gradients are shared out as the optimizers' are. Threads that find an overflow all store the same byte,
// so that nothing is reduced and a step without one writes nothing.
#include "core/backend/cuda/kernels/elementwise.cuh"
#include "core/backend/cuda/kernels/loss_scale.h"

namespace gpubench::cuda {
namespace {

constexpr int per_thread = 4;
constexpr std::int64_t tile = per_thread * block_threads;

__host__ __device__ constexpr std::int64_t tiles_of(std::int64_t elements) {
  return (elements + tile - 1) / tile;
}

__global__ void unscale_kernel(const __grid_constant__ UnscaleTensors tensors, const float* scale, bool* found,
                               std::int64_t tiles) {
  const float inverse = 1.0F / *scale;
  int tensor = 0;
  std::int64_t first = 0;  // tile of the tensor
  for (std::int64_t t = blockIdx.x; t < tiles; t += gridDim.x) {
    while (t - first >= tiles_of(tensors.elements[tensor])) first += tiles_of(tensors.elements[tensor++]);
    const std::int64_t begin = (t - first) * tile, elements = tensors.elements[tensor];
    bool overflowed = false;
#pragma unroll
    for (int k = 0; k < per_thread; ++k) {
      const std::int64_t i = begin + k * block_threads + threadIdx.x;
      if (i >= elements) continue;
      const float value = load_as<float>(tensors.gradient[tensor], tensors.type[tensor], i) * inverse;
      overflowed |= !math::is_finite(value);
      tensors.unscaled[tensor][i] = value;
    }
    if (overflowed) *found = true;
  }
}

__global__ void loss_scale_update_kernel(math::LossScale rule, float* scale, std::int64_t* good_steps,
                                         const bool* found) {
  rule(*scale, *good_steps, *found);
}

}  // namespace

cudaError_t launch_unscale(const LaunchOn& on, const UnscaleTensors& tensors, const float* scale, bool* found) {
  std::int64_t tiles = 0;
  for (int i = 0; i < tensors.count; ++i) tiles += tiles_of(tensors.elements[i]);
  if (tiles == 0) return cudaSuccess;
  return launch(on, blocks_for(on, tiles, 1), block_threads, &unscale_kernel, tensors, scale, found, tiles);
}

cudaError_t launch_loss_scale_update(const LaunchOn& on, const math::LossScale& rule, float* scale,
                                     std::int64_t* good_steps, const bool* found) {
  return launch(on, 1, 1, &loss_scale_update_kernel, rule, scale, good_steps, found);
}

}  // namespace gpubench::cuda
