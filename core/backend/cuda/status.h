// Errors: CUDA's own error codes as exceptions, and what planners say where they have no kernel.
#pragma once
#include <cuda_runtime_api.h>
#include <string_view>

#include "core/graph/op.h"

namespace gpubench::cuda {

/// Throws DeviceError with the call and CUDA's name and text of the error; DeviceLost when it is one after which the
/// process can do nothing more on the GPU.
void check(cudaError_t status, std::string_view call);

/// Whether every later call of this process will fail too.
bool is_sticky(cudaError_t status);

/// Throws Error("cuda: <op>: <reason>").
[[noreturn]] void refuse(const Op& op, std::string_view reason);

/// Throws Error("cuda: softmax: int64 is not supported; float32, float16 and bfloat16 are").
void require_floating(const Op& op, const TensorType& type);

}  // namespace gpubench::cuda
