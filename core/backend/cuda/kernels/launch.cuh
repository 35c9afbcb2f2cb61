// Launches a kernel and checks its argument types.
#pragma once
#include "core/backend/cuda/kernels/device.cuh"
#include "core/backend/cuda/kernels/launch.h"

namespace gpubench::cuda {

template <class... Parameters, class... Arguments>
cudaError_t launch(const LaunchOn& on, unsigned blocks, unsigned threads, void (*kernel)(Parameters...),
                   Arguments... arguments) {
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(blocks);
  config.blockDim = dim3(threads);
  config.stream = on.stream;
  return cudaLaunchKernelEx(&config, kernel, Parameters(arguments)...);
}

/// First element and step of the calling thread in a grid-stride loop.
__device__ inline std::int64_t first_index() {
  return static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}
__device__ inline std::int64_t index_step() {
  return static_cast<std::int64_t>(gridDim.x) * blockDim.x;
}

}  // namespace gpubench::cuda
