// Reductions over the middle dimension of [before, extent, after], and running sums along it. The order of additions
// depends only on the shape and the GPU, so results are repeatable: blocks that share one result write partial results,
// which a second step adds.
#pragma once
#include <cstddef>
#include <cstdint>

#include "core/backend/cuda/kernels/launch.h"
#include "core/tensor/dtype.h"

namespace gpubench::cuda {

enum class Reduction : std::uint8_t { sum, maximum, minimum, arg_max };

/// The unit that computes one result: a thread, up to 32 lanes of a warp (which read a row side by side), or a block,
/// whose threads share a tile of neighbouring columns.
enum class ReduceBy : std::uint8_t { threads, lanes, blocks };

/// One launch: [before, extent, after] -> [parts, before, after].
struct ReduceStep {
  std::int64_t before = 1, extent = 1, after = 1;
  /// Parts of the extent; more than 1 only with blocks.
  std::int64_t parts = 1;
  ReduceBy by = ReduceBy::threads;
  /// A power of two: lanes per row, or columns (or packs of columns) per tile.
  int width = 1;
  /// Whether blocks read packs of four elements of `after`, or of `extent` if `after` is 1. Only for floating sums,
  /// maxima and minima, and if the packed extent is a multiple of four.
  bool packed = false;
};

/// The memory of one step. Between steps lie partial results: float, int64_t, or a value with its index.
struct ReduceEnds {
  const void* in = nullptr;
  void* out = nullptr;
  Dtype in_type = Dtype::f32;   ///< of the elements that the first step reads
  Dtype out_type = Dtype::f32;  ///< of the elements that the last step writes
  bool first = true;
  bool last = true;
  float scale = 1;  ///< factor of a floating sum, applied in the last step
};

cudaError_t launch_reduce(const LaunchOn& on, Reduction reduction, const ReduceStep& step, const ReduceEnds& ends);

/// Running sums along the middle dimension of [before, extent, after], from its end if `reverse`.
struct CumsumShape {
  std::int64_t before = 1, extent = 1, after = 1;
  bool reverse = false;
  Dtype type = Dtype::f32;
};

/// `out` may be `in`.
cudaError_t launch_cumsum(const LaunchOn& on, const CumsumShape& shape, void* out, const void* in);

/// Bytes of one partial result of elements of `type`.
std::size_t running_bytes(Reduction reduction, Dtype type);

}  // namespace gpubench::cuda
