// The elements of many tensors, one behind the other, are cut into tiles that blocks share out: a block looks its
// tile's tensor up in the kernel's parameters.
#pragma once
#include <cstdint>

namespace gpubench::cuda {

template <std::int64_t tile>
__host__ __device__ constexpr std::int64_t tiles_in(std::int64_t elements) {
  return (elements + tile - 1) / tile;
}

/// body(tensor, begin) for each of the calling block's tiles: the tensor's index, and the tile's first element in it.
template <std::int64_t tile, class Body>
__device__ void for_each_tile(const std::int64_t* elements, std::int64_t tiles, const Body& body) {
  int tensor = 0;
  std::int64_t first = 0;  // tile of the tensor
  for (std::int64_t t = blockIdx.x; t < tiles; t += gridDim.x) {
    while (t - first >= tiles_in<tile>(elements[tensor])) first += tiles_in<tile>(elements[tensor++]);
    body(tensor, (t - first) * tile);
  }
}

}  // namespace gpubench::cuda
