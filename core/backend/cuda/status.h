// Errors of the CUDA backend: CUDA's error codes as exceptions or faults of a GPU, and refusals of planners.
#pragma once
#include <cuda_runtime_api.h>
#include <string_view>

#include "core/graph/op.h"
#include "core/nvidia/gpu_fault.h"

namespace gpubench::cuda {

/// Throws DeviceError with the call and CUDA's name and text of the error; DeviceLost if the process can no longer use
/// the GPU.
void check(cudaError_t status, std::string_view call);

/// Whether every later call of this process will fail too.
bool is_sticky(cudaError_t status);

/// The sticky error of the selected GPU, cudaSuccess without one. Of a library's call that failed: cuBLASLt, cuDNN and
/// NCCL have CUDA runtimes of their own, whose errors cudaGetLastError() of ours does not return (cuda_runtime_api.h:
/// of "the same instance of the CUDA Runtime library").
cudaError_t sticky_error();

/// Why a GPU cannot be used after such an error, with CUDA's name of it, and what to do.
DeviceFault fault_of(cudaError_t status);

/// Throws Error("cuda: <op>: <reason>").
[[noreturn]] void refuse(const Op& op, std::string_view reason);

/// Throws Error("cuda: softmax: int64 is not supported; float32, float16 and bfloat16 are").
void require_floating(const Op& op, const TensorType& type);

}  // namespace gpubench::cuda
