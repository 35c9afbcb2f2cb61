// Copies elements unchanged between strides: transposes, slices, broadcasts and parts of a concatenation.
#pragma once
#include <cstddef>
#include <cstdint>

#include "core/backend/cuda/kernels/elementwise.h"
#include "core/backend/cuda/kernels/launch.h"

namespace gpubench::cuda {

/// The elements of `access`: its first stride walks the source from element `from`, its second the destination from
/// `to`.
struct StridedWalk {
  ElementwiseAccess access;
  std::int64_t from = 0, to = 0;
  std::size_t element_bytes = 4;  ///< 1, 2, 4 or 8
};

cudaError_t launch_strided_copy(const LaunchOn& on, const StridedWalk& walk, void* to, const void* from);

/// A matrix transpose: out[column][row] = in[row][column], of elements of 2 or 4 bytes. Used to convert filters between
/// the layout of the ops, [height, width, input channels, output channels], and that of cuDNN's engines, which have the
/// output channels outermost.
cudaError_t launch_transpose(const LaunchOn& on, std::int64_t rows, std::int64_t columns, std::size_t element_bytes,
                             void* out, const void* in);

}  // namespace gpubench::cuda
