// cuDNN on the CPU: its functions as NVIDIA documents them, in plain loops. What the documentation forbids is refused,
// so that a wrong sequence of calls fails here; the work itself goes through the handle's stream.
#pragma once
#include <cstdint>
#include <cudnn.h>
#include <functional>
#include <string>
#include <vector>

struct cudnnContext {
  cudaStream_t stream = nullptr;
  int gpu = 0;
};

namespace gpubench::cuda_on_cpu {

/// Leaves the text for cudnnGetLastErrorString and returns the status.
cudnnStatus_t refused(cudnnStatus_t status, std::string why);

/// Adds work to the handle's stream.
cudnnStatus_t queue(cudnnHandle_t handle, std::function<void()> work, double milliseconds = 1);

std::size_t element_bytes(cudnnDataType_t type);
double load(const void* data, cudnnDataType_t type, std::int64_t at);
/// Rounds to the nearest even.
void store(void* data, cudnnDataType_t type, std::int64_t at, double value);

}  // namespace gpubench::cuda_on_cpu
