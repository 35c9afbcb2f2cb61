// Sums over the rows of a matrix, for each column: the parameters' gradients of normalization. A block has 32 columns:
// lanes read neighbours, and a thread, which keeps to its column, reads the column's parameters once and has several
// rows in flight. Sums go from threads to parts in shared memory, and from parts to columns in a second kernel, in an
// order that only the shape and the GPU determine. `Shape` has rows, channels, and the parts into which the rows are
// divided.
#pragma once
#include <algorithm>

#include "core/backend/cuda/kernels/elementwise.cuh"

namespace gpubench::cuda {

inline constexpr int column_tile = 32;
inline constexpr int column_tile_rows = block_threads / column_tile;
/// Rows that a thread loads before it uses the first.
inline constexpr int rows_ahead = 4;

inline std::int64_t column_tiles(std::int64_t channels) {
  return (channels + column_tile - 1) / column_tile;
}

/// The number of parts that fills the GPU.
inline std::int64_t column_parts(std::int64_t rows, std::int64_t channels, int multiprocessors) {
  constexpr std::int64_t blocks_per_multiprocessor = 8, rows_per_thread = 4;
  const std::int64_t tiles = std::max<std::int64_t>(1, column_tiles(channels));
  const std::int64_t most = std::max<std::int64_t>(1, rows / (column_tile_rows * rows_per_thread));
  return std::clamp<std::int64_t>(multiprocessors * blocks_per_multiprocessor / tiles, 1, most);
}

/// A block for each tile of columns and part of the rows.
template <class Shape>
unsigned column_blocks(const Shape& shape) {
  return static_cast<unsigned>(column_tiles(shape.channels) * shape.parts);
}

/// Bytes of the sums of all parts.
template <class Shape>
std::size_t column_sum_bytes(const Shape& shape) {
  return static_cast<std::size_t>(shape.parts * 2 * shape.channels) * sizeof(float);
}

/// Which column a thread has, and which of its rows come first.
struct ColumnPlace {
  std::int64_t column, part;
  int row;

  __device__ explicit ColumnPlace(std::int64_t channels) {
    const std::int64_t tiles = (channels + column_tile - 1) / column_tile;
    column = blockIdx.x % tiles * column_tile + threadIdx.x % column_tile;
    part = blockIdx.x / tiles;
    row = static_cast<int>(threadIdx.x) / column_tile;
  }
};

struct ColumnPair {
  float first, second;
};

/// Calls load(k, row, index) for `ahead` of the thread's elements, then use(k, row, index) for the same. In a plain
/// loop the compiler loads nothing before it knows that the row exists, or that a store before it has not changed the
/// element.
template <int ahead, class Shape, class Load, class Use>
__device__ void each_element(const Shape& shape, const ColumnPlace& place, const Load& load, const Use& use) {
  const std::int64_t step = shape.parts * column_tile_rows;
  for (std::int64_t first = place.part * column_tile_rows + place.row; first < shape.rows; first += step * ahead) {
#pragma unroll
    for (int k = 0; k < ahead; ++k) {
      const std::int64_t row = first + k * step;
      if (row < shape.rows) load(k, row, row * shape.channels + place.column);
    }
#pragma unroll
    for (int k = 0; k < ahead; ++k) {
      const std::int64_t row = first + k * step;
      if (row < shape.rows) use(k, row, row * shape.channels + place.column);
    }
  }
}

/// Sums what each(k) gives over a part of the rows, after load(k, row, index of the element); `sums` gets
/// [part][first, second][column]. `ahead` is as large as 32 registers a thread allow: with more of them a
/// multiprocessor would not hold the eight blocks that column_parts() gives it.
template <int ahead, class Shape, class Load, class Each>
__device__ void sum_part(const Shape& shape, float* sums, const Load& load, const Each& each) {
  __shared__ float shared[2][column_tile_rows][column_tile];
  const ColumnPlace place(shape.channels);
  ColumnPair sum{0, 0};
  if (place.column < shape.channels) {
    each_element<ahead>(shape, place, load, [&](int k, std::int64_t, std::int64_t) {
      const ColumnPair value = each(k);
      sum.first += value.first;
      sum.second += value.second;
    });
  }
  const int lane = static_cast<int>(threadIdx.x) % column_tile;
  shared[0][place.row][lane] = sum.first;
  shared[1][place.row][lane] = sum.second;
  __syncthreads();
  if (place.row > 1 || place.column >= shape.channels) return;
  float total = 0;
  for (int i = 0; i < column_tile_rows; ++i) total += shared[place.row][i][lane];
  sums[(place.part * 2 + place.row) * shape.channels + place.column] = total;
}

/// Adds up the parts of each column and calls store(column, total): a block has 32 columns, and its warps share the
/// parts out. Launch it with summing_blocks().
template <class Shape, class Store>
__device__ void sum_parts(const Shape& shape, const float* sums, const Store& store) {
  __shared__ float shared[2][column_tile_rows][column_tile];
  const int lane = static_cast<int>(threadIdx.x) % column_tile, warp = static_cast<int>(threadIdx.x) / column_tile;
  const std::int64_t column = static_cast<std::int64_t>(blockIdx.x) * column_tile + lane;
  ColumnPair total{0, 0};
  if (column < shape.channels) {
#pragma unroll rows_ahead
    for (std::int64_t part = warp; part < shape.parts; part += column_tile_rows) {
      total.first += sums[part * 2 * shape.channels + column];
      total.second += sums[(part * 2 + 1) * shape.channels + column];
    }
  }
  shared[0][warp][lane] = total.first;
  shared[1][warp][lane] = total.second;
  __syncthreads();
  if (warp > 0 || column >= shape.channels) return;
  for (int i = 1; i < column_tile_rows; ++i) {
    total.first += shared[0][i][lane];
    total.second += shared[1][i][lane];
  }
  store(column, total);
}

template <class Shape>
unsigned summing_blocks(const Shape& shape) {
  return static_cast<unsigned>(column_tiles(shape.channels));
}

}  // namespace gpubench::cuda
