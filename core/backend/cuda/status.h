// CUDA's own error codes as exceptions.
#pragma once
#include <cuda_runtime_api.h>
#include <string_view>

namespace gpubench::cuda {

/// Throws DeviceError with the call and CUDA's name and text of the error; DeviceLost when it is one after which the
/// process can do nothing more on the GPU.
void check(cudaError_t status, std::string_view call);

/// Whether every later call of this process will fail too.
bool is_sticky(cudaError_t status);

}  // namespace gpubench::cuda
