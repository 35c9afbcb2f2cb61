// Moves elements without looking at them: transposes, slices, broadcasts and parts of a concatenation.
#pragma once
#include <cstddef>

#include "core/backend/cuda/kernels/elementwise.h"

namespace gpubench::cuda {

/// What is copied: elements of `access`, whose first stride walks the source and whose second the destination, from
/// these elements on.
struct StridedWalk {
  ElementwiseAccess access;
  std::int64_t from = 0, to = 0;
  std::size_t element_bytes = 4;  ///< 1, 2, 4 or 8
};

cudaError_t launch_strided_copy(const LaunchOn& on, const StridedWalk& walk, void* to, const void* from);

}  // namespace gpubench::cuda
