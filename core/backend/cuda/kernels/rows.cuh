// Kernels that process rows of classes: up to 32 lanes of a warp share a row (several short rows per warp), or a block
// does.
#pragma once
#include <algorithm>
#include <bit>

#include "core/backend/cuda/kernels/launch.cuh"
#include "core/math/elementary.h"
#include "core/math/functions.h"

namespace gpubench::cuda {

struct RowShape {
  std::int64_t rows = 0, columns = 0;
  int width = 1;  ///< threads per row, a power of two
};

/// A row as seen by one of its threads, which processes elements rank, rank + width, ... below `columns`.
struct Row {
  std::int64_t index;
  std::int64_t begin;    ///< the row's first element
  std::int64_t columns;  ///< 0 for threads without a row, which must still take part in reductions
  int rank, width;

  __device__ bool leads() const { return rank == 0 && columns > 0; }
};

/// What becomes of a row whose label is no class.
__device__ inline float not_a_number() {
  return math::from_bits(0x7FC00000);
}

/// Of values that are numbers; not a number wins in math::Maximum.
struct Largest {
  template <class T>
  __device__ T operator()(T a, T b) const {
    return b > a ? b : a;
  }
};
struct Smallest {
  template <class T>
  __device__ T operator()(T a, T b) const {
    return b < a ? b : a;
  }
};

struct ByLanes {
  static constexpr int most_threads = warp_size;  ///< of a row
  /// All threads of the row must call it; each receives the result.
  template <class T, class Combine>
  __device__ static T reduce(const Row& row, T value, Combine combine) {
    for (int distance = row.width / 2; distance > 0; distance /= 2) {
      value = combine(value, __shfl_xor_sync(0xFFFFFFFFU, value, distance));
    }
    return value;
  }
};

// Two warp exchanges give every thread the result; CUB's reduction gives it to one thread only, and takes seconds to
// compile.
struct ByBlock {
  static constexpr int most_threads = block_threads;
  template <class T, class Combine>
  __device__ static T reduce(const Row&, T value, Combine combine) {
    constexpr int most_warps = 32;
    const int warps = static_cast<int>(blockDim.x) / warp_size;
    __shared__ T of_warp[most_warps];
    value = warp_reduce(value, combine);
    if (threadIdx.x % warp_size == 0) of_warp[threadIdx.x / warp_size] = value;
    __syncthreads();
    value = of_warp[0];
    for (int w = 1; w < warps; ++w) value = combine(value, of_warp[w]);
    __syncthreads();
    return value;
  }
};

/// Calls body(by, row) for each row, on all of its threads.
template <class By, class Body>
__device__ void for_each_row(const RowShape& shape, const Body& body) {
  // Shifts, because a division of 64 bits takes about 70 instructions.
  const int shift = __ffs(shape.width) - 1, thread = static_cast<int>(threadIdx.x);
  const int groups_of_block = static_cast<int>(blockDim.x) >> shift, rank = thread & (shape.width - 1);
  const std::int64_t groups = std::int64_t{gridDim.x} * groups_of_block;
  // All threads of a block must take the same number of turns, with or without a row.
  const std::int64_t first_of_block = std::int64_t{blockIdx.x} * groups_of_block;
  const std::int64_t group = first_of_block + (thread >> shift);
  for (std::int64_t turn = 0; first_of_block + turn < shape.rows; turn += groups) {
    const std::int64_t row = group + turn;
    const bool exists = row < shape.rows;
    body(By{}, Row{exists ? row : 0, exists ? row * shape.columns : 0, exists ? shape.columns : 0, rank, shape.width});
  }
}

template <class By, class Body>
__global__ void over_rows(RowShape shape, Body body) {
  for_each_row<By>(shape, body);
}

inline constexpr std::int64_t most_columns_of_lanes = 1024;  // a few loads per lane; a longer row is worth a block

/// Lanes that share a row of up to most_columns_of_lanes.
inline int lanes_of(std::int64_t columns) {
  return static_cast<int>(std::bit_ceil(static_cast<std::uint64_t>(std::min<std::int64_t>(columns, warp_size))));
}

/// Lanes of a warp share a row, or several short rows.
template <class Body>
cudaError_t launch_rows_by_lanes(const LaunchOn& on, std::int64_t rows, std::int64_t columns, const Body& body) {
  if (rows == 0 || columns == 0) return cudaSuccess;
  const int width = lanes_of(columns);
  return launch_filling<&over_rows<ByLanes, Body>>(on, rows * width, block_threads, RowShape{rows, columns, width},
                                                   body);
}

/// A block has a row.
template <class Body>
cudaError_t launch_rows_by_block(const LaunchOn& on, std::int64_t rows, std::int64_t columns, const Body& body) {
  if (rows == 0 || columns == 0) return cudaSuccess;
  return launch_filling<&over_rows<ByBlock, Body>>(on, rows, 1, RowShape{rows, columns, block_threads}, body);
}

template <class Body>
cudaError_t launch_rows(const LaunchOn& on, std::int64_t rows, std::int64_t columns, const Body& body) {
  return columns > most_columns_of_lanes ? launch_rows_by_block(on, rows, columns, body)
                                         : launch_rows_by_lanes(on, rows, columns, body);
}

}  // namespace gpubench::cuda
