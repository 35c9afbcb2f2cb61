// Sorts rows by exchanges of pairs (a bitonic sort). A block has a row, in its shared memory or, where that is too
// small, in memory of its own.
#pragma once
#include <cstddef>
#include <cstdint>

#include "core/backend/cuda/kernels/launch.h"
#include "core/tensor/dtype.h"

namespace gpubench::cuda {

struct SortShape {
  std::int64_t rows = 0, columns = 0;
  std::int64_t kept = 0;  ///< columns of the results
  bool descending = false;
  Dtype type = Dtype::f32;
};

/// Longest row, whose places are counted in 32 bits.
inline constexpr std::int64_t most_sorted_columns = std::int64_t{1} << 29;

std::size_t sort_workspace_bytes(const LaunchOn& on, const SortShape& shape);

/// in [rows, columns] -> the first values of each row in order [rows, kept], and their columns.
cudaError_t launch_sort(const LaunchOn& on, const SortShape& shape, const void* in, void* values, std::int64_t* places,
                        void* workspace);

}  // namespace gpubench::cuda
