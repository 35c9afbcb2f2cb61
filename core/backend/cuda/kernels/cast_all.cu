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
  for_each_tile<cast_tile>(tensors.elements, tiles, [&](int tensor, std::int64_t begin) {
    const std::int64_t i = begin + threadIdx.x * cast_pack, elements = tensors.elements[tensor];
    const float* const from = tensors.from[tensor];
    void* const to = tensors.to[tensor];
    if (i + cast_pack <= elements) {
      store_pack_of<T>(to, i, load_pack_of<float, cast_pack>(from, i));
    } else {
#pragma unroll 1
      for (std::int64_t k = i; k < elements; ++k) static_cast<T*>(to)[k] = Narrow<T>::from(from[k]);
    }
  });
}

template <class T>
cudaError_t launch_to(const LaunchOn& on, const CastTensors& tensors) {
  std::int64_t tiles = 0;
  for (int i = 0; i < tensors.count; ++i) tiles += tiles_in<cast_tile>(tensors.elements[i]);
  if (tiles == 0) return cudaSuccess;
  return launch_filling<&cast_all_kernel<T>>(on, tiles, 1, tensors, tiles);
}

}  // namespace

cudaError_t launch_cast_all(const LaunchOn& on, const CastTensors& tensors) {
  return tensors.type == Dtype::f16 ? launch_to<math::Float16>(on, tensors) : launch_to<math::Bfloat16>(on, tensors);
}

}  // namespace gpubench::cuda
