#include "core/backend/cuda/kernels/elementwise.cuh"
#include "core/backend/cuda/kernels/launch.cuh"
#include "core/backend/cuda/kernels/strided_copy.h"

namespace gpubench::cuda {

namespace {

template <class Bits>
__global__ void strided_copy_kernel(ElementwiseAccess access, Bits* to, const Bits* from) {
  for_each_element<2>(access, [&](std::int64_t, const std::int64_t* offset) { to[offset[1]] = from[offset[0]]; });
}

// Tiles go through shared memory, so that both reading and writing are of neighbours.
constexpr int tile = 32;
constexpr int tile_rows = block_threads / tile;

template <class T>
__global__ void transpose_kernel(std::int64_t rows, std::int64_t columns, T* out, const T* in) {
  __shared__ T values[tile][tile + 1];  // one more, so that a column lies in different banks
  const int x = static_cast<int>(threadIdx.x) % tile, y = static_cast<int>(threadIdx.x) / tile;
  const std::int64_t across = (columns + tile - 1) / tile, tiles = across * ((rows + tile - 1) / tile);
  for (std::int64_t at = blockIdx.x; at < tiles; at += gridDim.x) {
    const std::int64_t row = at / across * tile, column = at % across * tile;
    for (int i = y; i < tile; i += tile_rows) {
      if (row + i < rows && column + x < columns) values[i][x] = in[(row + i) * columns + column + x];
    }
    __syncthreads();
    for (int i = y; i < tile; i += tile_rows) {
      if (column + i < columns && row + x < rows) out[(column + i) * rows + row + x] = values[x][i];
    }
    __syncthreads();
  }
}

}  // namespace

cudaError_t launch_strided_copy(const LaunchOn& on, const StridedWalk& walk, void* to, const void* from) {
  if (walk.access.elements == 0) return cudaSuccess;
  return with_bits(walk.element_bytes, [&]<class Bits>() {
    return launch_filling<&strided_copy_kernel<Bits>>(on, walk.access.elements, block_threads * pack_size, walk.access,
                                                      static_cast<Bits*>(to) + walk.to,
                                                      static_cast<const Bits*>(from) + walk.from);
  });
}

cudaError_t launch_transpose(const LaunchOn& on, std::int64_t rows, std::int64_t columns, std::size_t element_bytes,
                             void* out, const void* in) {
  if (rows == 0 || columns == 0) return cudaSuccess;
  const std::int64_t tiles = ((columns + tile - 1) / tile) * ((rows + tile - 1) / tile);
  if (element_bytes == sizeof(std::uint16_t)) {
    return launch_filling<&transpose_kernel<std::uint16_t>>(
        on, tiles, 1, rows, columns, static_cast<std::uint16_t*>(out), static_cast<const std::uint16_t*>(in));
  }
  return launch_filling<&transpose_kernel<std::uint32_t>>(on, tiles, 1, rows, columns, static_cast<std::uint32_t*>(out),
                                                          static_cast<const std::uint32_t*>(in));
}

}  // namespace gpubench::cuda
