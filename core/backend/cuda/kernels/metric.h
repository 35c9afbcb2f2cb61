// Whether predictions match their labels, as 1 or 0.
#pragma once
#include <cstdint>

#include "core/backend/cuda/kernels/launch.h"
#include "core/tensor/dtype.h"

namespace gpubench::cuda {

/// matches[row] for predictions [rows, columns]; labels are rows of float32, or integers [rows]. A label out of range
/// gives NaN.
cudaError_t launch_top_k_matches(const LaunchOn& on, std::int64_t rows, std::int64_t columns, std::int64_t k,
                                 const float* predictions, const void* labels, Dtype label_type, float* matches);
cudaError_t launch_binary_matches(const LaunchOn& on, std::int64_t elements, float threshold, const float* predictions,
                                  const float* labels, float* matches);

}  // namespace gpubench::cuda
