// Sums over the rows of a matrix, for each column: the parameters' gradients of normalization. A block has a tile of
// columns, of which each thread keeps to a pack of 16 bytes (or to one column, where packs would cross rows): it reads
// the columns' parameters once and has several rows in flight. Sums go from threads to parts in shared memory, and from
// parts to columns in a second kernel, in an order that only the shape and the GPU determine. `Shape` has rows,
// channels, dtype, and the parts into which the rows are divided.
#pragma once
#include <algorithm>

#include "core/backend/cuda/kernels/elementwise.cuh"

namespace gpubench::cuda {

inline constexpr int column_tile = 32;
inline constexpr int column_tile_rows = block_threads / column_tile;
/// Parts of a column that a thread loads before it uses the first.
inline constexpr int parts_ahead = 4;

inline std::int64_t column_tiles(std::int64_t channels) {
  return (channels + column_tile - 1) / column_tile;
}

/// A block's columns: `lanes` threads side by side, with `pack` neighbouring columns each. Its other threads have rows
/// below.
struct ColumnTile {
  int pack = 1, lanes = column_tile;

  __host__ __device__ int columns() const { return pack * lanes; }
  __host__ __device__ int rows() const { return block_threads / lanes; }
  __host__ __device__ std::int64_t tiles(std::int64_t channels) const { return (channels + columns() - 1) / columns(); }
};

/// A tile no wider than it must be: lanes beside the last column would idle.
__host__ __device__ inline ColumnTile tile_of(std::int64_t channels, int pack) {
  int lanes = column_tile;
  while (lanes > 1 && lanes / 2 * pack >= channels) lanes /= 2;
  return {pack, lanes};
}

/// The tile of a shape whose packs are 16 bytes where no pack crosses from one row to the next.
template <class Shape>
ColumnTile tile_of(const Shape& shape) {
  const int whole = 16 / static_cast<int>(size_of(shape.dtype));
  return tile_of(shape.channels, shape.channels % whole == 0 ? whole : 1);
}

/// launch.operator()<T, pack>() for the tile of the shape.
template <class Shape, class Launch>
cudaError_t with_packs(const Shape& shape, const Launch& launch) {
  return with_floating(shape.dtype, [&]<class T>(T) {
    return tile_of(shape).pack == 1 ? launch.template operator()<T, 1>() : launch.template operator()<T, wide<T>>();
  });
}

/// The number of parts that fills the GPU.
inline std::int64_t column_parts(std::int64_t rows, std::int64_t channels, int multiprocessors, ColumnTile tile = {}) {
  constexpr std::int64_t blocks_per_multiprocessor = 8, rows_per_thread = 4;
  const std::int64_t tiles = std::max<std::int64_t>(1, tile.tiles(channels));
  const std::int64_t most = std::max<std::int64_t>(1, rows / (tile.rows() * rows_per_thread));
  return std::clamp<std::int64_t>(multiprocessors * blocks_per_multiprocessor / tiles, 1, most);
}

/// The shape with as many of its parts as blocks of the kernel fill the GPU with.
template <auto kernel, class Shape>
Shape filling(const LaunchOn& on, Shape shape) {
  const std::int64_t tiles = tile_of(shape).tiles(shape.channels);
  const std::int64_t blocks = filling_blocks<kernel>(on, tiles * shape.parts, 1);
  shape.parts = std::max<std::int64_t>(1, blocks / tiles);
  return shape;
}

/// A block for each tile of columns and part of the rows.
template <class Shape>
unsigned column_blocks(const Shape& shape) {
  return static_cast<unsigned>(tile_of(shape).tiles(shape.channels) * shape.parts);
}

/// Bytes of the sums of all parts.
template <class Shape>
std::size_t column_sum_bytes(const Shape& shape) {
  return static_cast<std::size_t>(shape.parts * 2 * shape.channels) * sizeof(float);
}

/// Which columns a thread has (the first of its pack), and which of its rows come first.
struct ColumnPlace {
  ColumnTile tile;
  std::int64_t column, part;
  int row;

  __device__ explicit ColumnPlace(std::int64_t channels, ColumnTile of_block = {}) : tile(of_block) {
    const std::int64_t tiles = tile.tiles(channels);
    const int thread = static_cast<int>(threadIdx.x);
    column = blockIdx.x % tiles * tile.columns() + thread % tile.lanes * tile.pack;
    part = blockIdx.x / tiles;
    row = thread / tile.lanes;
  }
};

struct ColumnPair {
  float first, second;
};

/// Calls load(k, row, index) for `ahead` of the thread's packs, then use(k, row, index) for the same. In a plain loop
/// the compiler loads nothing before it knows that the row exists, or that a store before it has not changed the
/// elements.
template <int ahead, class Shape, class Load, class Use>
__device__ void each_pack(const Shape& shape, const ColumnPlace& place, const Load& load, const Use& use) {
  const std::int64_t rows = place.tile.rows(), step = shape.parts * rows;
  for (std::int64_t first = place.part * rows + place.row; first < shape.rows; first += step * ahead) {
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

/// Sums over a part of the rows: after load(k, row, index of the pack) add(k, index of the pack, sums of the pack's
/// columns) adds what the pack gives. `sums` gets [part][first, second][column].
template <int pack, int ahead, class Shape, class Load, class Add>
__device__ void sum_part(const Shape& shape, const ColumnPlace& place, float* sums, const Load& load, const Add& add) {
  __shared__ float shared[2][block_threads * pack];  // a tile of columns for each of the block's rows
  ColumnPair sum[pack] = {};
  if (place.column < shape.channels) {
    each_pack<ahead>(shape, place, load, [&](int k, std::int64_t, std::int64_t i) { add(k, i, sum); });
  }
  const int thread = static_cast<int>(threadIdx.x);
#pragma unroll
  for (int j = 0; j < pack; ++j) {
    shared[0][thread * pack + j] = sum[j].first;
    shared[1][thread * pack + j] = sum[j].second;
  }
  __syncthreads();
  const int columns = place.tile.columns();
  const std::int64_t first = place.column - thread % place.tile.lanes * pack;
  for (int i = thread; i < 2 * columns; i += block_threads) {
    const int which = i / columns, at = i % columns;
    if (first + at >= shape.channels) continue;
    float total = 0;
    for (int row = 0; row < place.tile.rows(); ++row) total += shared[which][row * columns + at];
    sums[(place.part * 2 + which) * shape.channels + first + at] = total;
  }
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
#pragma unroll parts_ahead
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
