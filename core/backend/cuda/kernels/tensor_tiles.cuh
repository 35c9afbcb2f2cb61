// The elements of many tensors, one behind the other, are cut into tiles that blocks share out: a block looks its
// tile's tensor up in the kernel's parameters.
#pragma once
#include <cstdint>

#include "core/backend/cuda/kernels/launch.h"

namespace gpubench::cuda {

template <std::int64_t size>
__host__ __device__ constexpr std::int64_t tiles_in(std::int64_t elements) {
  return (elements + size - 1) / size;
}
/// Of all `tensors.count` tensors.
template <std::int64_t size, class Tensors>
std::int64_t tiles_of(const Tensors& tensors) {
  std::int64_t tiles = 0;
  for (int i = 0; i < tensors.count; ++i) tiles += tiles_in<size>(tensors.elements[i]);
  return tiles;
}

template <std::int64_t size>
struct Tile {
  std::int64_t index;  ///< among the tiles of all tensors
  int tensor;
  std::int64_t begin, elements;  ///< its first element in the tensor, and the tensor's elements

  /// body(i, n) for n elements from element i on: packs of `count` (a std::integral_constant), which the block's
  /// threads share out, and single elements at the tensor's end.
  template <int count, class Body>
  __device__ void for_each_pack(const Body& body) const {
    static_assert(size % (count * block_threads) == 0);
#pragma unroll
    for (std::int64_t part = 0; part < size; part += count * block_threads) {
      const std::int64_t i = begin + part + threadIdx.x * count;
      if (i + count <= elements) {
        body.template operator()<count>(i);
      } else {
#pragma unroll 1
        for (std::int64_t k = i; k < elements; ++k) body.template operator()<1>(k);
      }
    }
  }
};

/// body(tile) for each of the calling block's tiles.
template <std::int64_t size, class Body>
__device__ void for_each_tile(const std::int64_t* elements, std::int64_t tiles, const Body& body) {
  int tensor = 0;
  std::int64_t first = 0;  // tile of the tensor
  for (std::int64_t t = blockIdx.x; t < tiles; t += gridDim.x) {
    while (t - first >= tiles_in<size>(elements[tensor])) first += tiles_in<size>(elements[tensor++]);
    body(Tile<size>{t, tensor, (t - first) * size, elements[tensor]});
  }
}

}  // namespace gpubench::cuda
