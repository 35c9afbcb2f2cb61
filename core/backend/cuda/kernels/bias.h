// Adding a row to every row.
#pragma once
#include <cstdint>

#include "core/backend/cuda/kernels/launch.h"
#include "core/tensor/dtype.h"

namespace gpubench::cuda {

/// y[i] = x[i] + bias[i % channels], all of one floating type; y may be x.
cudaError_t launch_bias_add(const LaunchOn& on, std::int64_t elements, std::int64_t channels, Dtype type, void* y,
                            const void* x, const void* bias);

}  // namespace gpubench::cuda
