// Filters between the order of the ops, [height, width, input channels, output channels], and that of cuDNN's engines,
// which have the output channels outermost: the transposition of a matrix.
#pragma once
#include <cstddef>
#include <cstdint>

#include "core/backend/cuda/kernels/launch.h"

namespace gpubench::cuda {

/// out[column][row] = in[row][column], of elements of 2 or 4 bytes.
cudaError_t launch_transpose(const LaunchOn& on, std::int64_t rows, std::int64_t columns, std::size_t element_bytes,
                             void* out, const void* in);

}  // namespace gpubench::cuda
