// What GPUs launch, by the limits that all GPUs of gpubench have (CUDA C++ Programming Guide, "Compute Capabilities").
// __launch_bounds__ is none of them: a function pointer does not show it.
#pragma once
#include <cuda_runtime_api.h>

namespace gpubench::cuda_on_cpu {

/// CUDA's error for a launch beyond the limits, else cudaSuccess.
cudaError_t launch_error(const cudaLaunchConfig_t& config, const void* kernel);

}  // namespace gpubench::cuda_on_cpu
