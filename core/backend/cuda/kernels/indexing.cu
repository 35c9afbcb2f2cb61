// The gradient of gathering adds without atomics, so that results repeat: each block looks through the indices for
// those of its 32 rows, which a ballot finds 32 at a time.
#include "core/backend/cuda/kernels/elementwise.cuh"
#include "core/backend/cuda/kernels/indexing.h"
#include "core/backend/cuda/kernels/rows.cuh"

namespace gpubench::cuda {
namespace {

/// C computes the elements; `wrong` stands in the rows of indices out of range.
template <class C>
__global__ void one_hot(Indices indices, std::int64_t depth, Dtype type, C wrong, void* out) {
  for (std::int64_t i = first_index(); i < indices.count * depth; i += index_step()) {
    const std::int64_t index = load_as<std::int64_t>(indices.data, indices.type, i / depth);
    const C value = index == i % depth ? C{1} : C{0};
    store_as<C>(out, type, i, index < 0 || index >= depth ? wrong : value);
  }
}

template <class Bits>
struct Gather {
  Indices indices;
  std::int64_t rows;
  Bits wrong;
  const Bits* params;
  Bits* out;

  template <class By>
  __device__ void operator()(By, const Row& row) const {
    const std::int64_t index = load_as<std::int64_t>(indices.data, indices.type, row.index);
    const bool exists = index >= 0 && index < rows;
    for (std::int64_t i = row.rank; i < row.columns; i += row.width) {
      out[row.begin + i] = exists ? params[index * row.columns + i] : wrong;
    }
  }
};

// A warp has the sums of 32 rows and columns, a lane a column, of its share of the indices; then the warps' sums are
// added up. Four rows of dy are on their way at a time.
__global__ void gather_gradient(Indices indices, GatherGradientShape shape, const void* dy, void* out) {
  constexpr int tile = gather_tile, warps = block_threads / warp_size, ahead = 4;
  constexpr unsigned all_lanes = 0xFFFFFFFFU;
  __shared__ float sums[warps][tile][tile];
  const int thread = static_cast<int>(threadIdx.x), warp = thread / warp_size, lane = thread % warp_size;
  const std::int64_t row_tiles = (shape.rows + tile - 1) / tile, column_tiles = (shape.columns + tile - 1) / tile;
  const std::int64_t shares = shape.parts * warps;
  for (std::int64_t b = blockIdx.x; b < row_tiles * column_tiles * shape.parts; b += gridDim.x) {
    const std::int64_t part = b / (row_tiles * column_tiles);
    const std::int64_t first_row = b / column_tiles % row_tiles * tile, first_column = b % column_tiles * tile;
    const std::int64_t column = first_column + lane;
    for (int r = 0; r < tile; ++r) sums[warp][r][lane] = 0;
    const std::int64_t share = part * warps + warp;
    const std::int64_t end = indices.count * (share + 1) / shares;
    for (std::int64_t i = indices.count * share / shares; i < end; i += warp_size) {
      const bool exists = i + lane < end;
      const std::int64_t row = exists ? load_as<std::int64_t>(indices.data, indices.type, i + lane) - first_row : -1;
      unsigned hits = __ballot_sync(all_lanes, row >= 0 && row < tile);
      while (hits != 0) {
        int to[ahead];
        float added[ahead];
#pragma unroll
        for (int k = 0; k < ahead; ++k) {
          const bool hit = hits != 0;
          const int from = hit ? __ffs(static_cast<int>(hits)) - 1 : 0;
          hits &= hits - 1;
          const int its_row = static_cast<int>(__shfl_sync(all_lanes, row, from));
          to[k] = hit ? its_row : 0;
          added[k] = hit && column < shape.columns
                         ? load_as<float>(dy, shape.dy_type, (i + from) * shape.columns + column)
                         : 0.0F;
        }
#pragma unroll
        for (int k = 0; k < ahead; ++k) sums[warp][to[k]][lane] += added[k];
      }
    }
    __syncthreads();
    for (int cell = thread; cell < tile * tile; cell += block_threads) {
      const std::int64_t to_row = first_row + cell / tile, to_column = first_column + cell % tile;
      float sum = 0;
      for (int w = 0; w < warps; ++w) sum += sums[w][cell / tile][cell % tile];
      if (to_row < shape.rows && to_column < shape.columns) {
        store_as<float>(out, shape.out_type, (part * shape.rows + to_row) * shape.columns + to_column, sum);
      }
    }
    __syncthreads();
  }
}

__global__ void flat_index(Indices places, IndexedAxes axes, std::int64_t* out) {
  for (std::int64_t i = first_index(); i < places.count; i += index_step()) {
    std::int64_t flat = 0;
    bool exists = true;
    for (int axis = 0; axis < axes.count; ++axis) {
      const std::int64_t extent = axes.extents[axis];
      const std::int64_t at = load_as<std::int64_t>(places.data, places.type, i * axes.count + axis);
      exists = exists && at >= 0 && at < extent;
      flat = flat * extent + at;
    }
    out[i] = exists ? flat : -1;
  }
}

/// Units of a row that a block of scatter_update moves.
inline constexpr std::int64_t update_columns = 4096;

template <class Bits>
struct UpdatedRows {
  std::int64_t rows, columns;
  Bits wrong;
  const Bits *x, *updates;
  Bits* out;
};

// A block has 32 rows. Its warps look through their shares of the indices, in order, for the last use of each row; the
// first block of rows also sees whether an index is out of range.
template <class Bits>
__global__ void scatter_update(Indices indices, UpdatedRows<Bits> to) {
  constexpr int tile = gather_tile, warps = block_threads / warp_size;
  constexpr unsigned all_lanes = 0xFFFFFFFFU;
  __shared__ std::int64_t last[warps][tile];
  __shared__ bool outside[warps];
  const int thread = static_cast<int>(threadIdx.x), warp = thread / warp_size, lane = thread % warp_size;
  const std::int64_t row_tiles = (to.rows + tile - 1) / tile;
  const std::int64_t column_tiles = (to.columns + update_columns - 1) / update_columns;
  for (std::int64_t b = blockIdx.x; b < row_tiles * column_tiles; b += gridDim.x) {
    const std::int64_t first_row = b / column_tiles * tile, first_column = b % column_tiles * update_columns;
    last[warp][lane] = -1;
    bool wrong = false;
    __syncwarp();
    const std::int64_t end = indices.count * (warp + 1) / warps;
    for (std::int64_t i = indices.count * warp / warps; i < end; i += warp_size) {
      const bool given = i + lane < end;
      const std::int64_t index = given ? load_as<std::int64_t>(indices.data, indices.type, i + lane) : first_row;
      wrong = wrong || index < 0 || index >= to.rows;
      const std::int64_t row = given ? index - first_row : -1;
      unsigned hits = __ballot_sync(all_lanes, row >= 0 && row < tile);
      while (hits != 0) {
        const int from = __ffs(static_cast<int>(hits)) - 1;
        hits &= hits - 1;
        const int its_row = static_cast<int>(__shfl_sync(all_lanes, row, from));
        if (lane == 0) last[warp][its_row] = i + from;
      }
    }
    const bool any_wrong = __ballot_sync(all_lanes, wrong) != 0;
    if (lane == 0) outside[warp] = any_wrong;
    __syncthreads();
    bool refused = false;
    for (int w = 0; w < warps; ++w) refused = refused || outside[w];
    const std::int64_t width = to.columns - first_column < update_columns ? to.columns - first_column : update_columns;
    for (std::int64_t cell = thread; cell < tile * width; cell += block_threads) {
      const int its_row = static_cast<int>(cell / width);
      const std::int64_t row = first_row + its_row, column = first_column + cell % width;
      if (row >= to.rows) break;
      std::int64_t from = -1;
      for (int w = 0; w < warps; ++w) from = last[w][its_row] >= 0 ? last[w][its_row] : from;
      const Bits value = from >= 0 ? to.updates[from * to.columns + column] : to.x[row * to.columns + column];
      to.out[row * to.columns + column] = refused && row == 0 ? to.wrong : value;
    }
    __syncthreads();
  }
}

/// The largest of 8, 4, 2 and 1 that divides.
std::size_t unit_of(std::int64_t bytes) {
  return bytes % 8 == 0 ? 8 : bytes % 4 == 0 ? 4 : bytes % 2 == 0 ? 2 : 1;
}

/// All bits set are NaN in every floating type; bools have one bit.
template <class Bits>
Bits wrong_bits(Dtype type) {
  const auto ones = static_cast<Bits>(~Bits{0});
  return type == Dtype::boolean ? static_cast<Bits>(ones / 0xFF) : ones;
}

}  // namespace

cudaError_t launch_one_hot(const LaunchOn& on, const Indices& indices, std::int64_t depth, Dtype type, void* out) {
  if (indices.count == 0) return cudaSuccess;
  const unsigned blocks = blocks_for(on, indices.count * depth);
  if (is_floating(type)) {
    const float nan = math::from_bits(0x7FC00000);
    return launch(on, blocks, block_threads, &one_hot<float>, indices, depth, type, nan, out);
  }
  const std::int64_t wrong = type == Dtype::boolean ? 1 : -1;
  return launch(on, blocks, block_threads, &one_hot<std::int64_t>, indices, depth, type, wrong, out);
}

cudaError_t launch_gather(const LaunchOn& on, const Indices& indices, std::int64_t rows, std::int64_t row_bytes,
                          Dtype type, const void* params, void* out) {
  const std::size_t unit = unit_of(row_bytes);
  return with_bits(unit, [&]<class Bits>() {
    return launch_rows(
        on, indices.count, row_bytes / static_cast<std::int64_t>(unit),
        Gather<Bits>{indices, rows, wrong_bits<Bits>(type), static_cast<const Bits*>(params), static_cast<Bits*>(out)});
  });
}

cudaError_t launch_flat_index(const LaunchOn& on, const Indices& indices, const IndexedAxes& axes, std::int64_t* out) {
  if (indices.count == 0) return cudaSuccess;
  return launch_filling<&flat_index>(on, indices.count, block_threads, indices, axes, out);
}

cudaError_t launch_scatter_update(const LaunchOn& on, const Indices& indices, std::int64_t rows, std::int64_t row_bytes,
                                  Dtype type, const void* x, const void* updates, void* out) {
  if (rows == 0 || row_bytes == 0) return cudaSuccess;
  const std::size_t unit = unit_of(row_bytes);
  return with_bits(unit, [&]<class Bits>() {
    const std::int64_t columns = row_bytes / static_cast<std::int64_t>(unit);
    const std::int64_t column_tiles = (columns + update_columns - 1) / update_columns;
    return launch_filling<&scatter_update<Bits>>(
        on, (rows + gather_tile - 1) / gather_tile * column_tiles, 1, indices,
        UpdatedRows<Bits>{rows, columns, wrong_bits<Bits>(type), static_cast<const Bits*>(x),
                          static_cast<const Bits*>(updates), static_cast<Bits*>(out)});
  });
}

cudaError_t launch_gather_gradient(const LaunchOn& on, const Indices& indices, const GatherGradientShape& shape,
                                   const void* dy, void* out) {
  const std::int64_t tiles =
      ((shape.rows + gather_tile - 1) / gather_tile) * ((shape.columns + gather_tile - 1) / gather_tile);
  if (tiles == 0) return cudaSuccess;
  return launch_filling<&gather_gradient>(on, tiles * shape.parts, 1, indices, shape, dy, out);
}

}  // namespace gpubench::cuda
