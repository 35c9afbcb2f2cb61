#include "core/backend/cuda/kernels/cast_all.h"
#include "core/backend/cuda/kernels/elementwise.cuh"
#include "core/backend/cuda/kernels/tensor_tiles.cuh"

namespace gpubench::cuda {
namespace {

/// Elements that a thread stores at once: 16 bytes.
constexpr int cast_pack = 8;
constexpr std::int64_t cast_tile = cast_pack * block_threads;

template <class T>
__global__ void cast_all_kernel(const __grid_constant__ CastTensors tensors, std::int64_t tiles) {
  for_each_tile<cast_tile>(tensors.elements, tiles, [&](const auto& tile) {
    const float* const from = tensors.from[tile.tensor];
    void* const to = tensors.to[tile.tensor];
    tile.template for_each_pack<cast_pack>(
        [&]<int n>(std::int64_t i) { store_pack_of<T>(to, i, load_pack_of<float, n>(from, i)); });
  });
}

template <class T>
cudaError_t launch_to(const LaunchOn& on, const CastTensors& tensors) {
  const std::int64_t tiles = tiles_of<cast_tile>(tensors);
  if (tiles == 0) return cudaSuccess;
  return launch_filling<&cast_all_kernel<T>>(on, tiles, 1, tensors, tiles);
}

}  // namespace

cudaError_t launch_cast_all(const LaunchOn& on, const CastTensors& tensors) {
  return tensors.type == Dtype::f16 ? launch_to<math::Float16>(on, tensors) : launch_to<math::Bfloat16>(on, tensors);
}

}  // namespace gpubench::cuda
