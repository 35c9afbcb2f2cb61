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

/// Number of blocks for `items`, `per_block` of which fit into a block: at most as many as the calling thread's GPU
/// holds at once, so that none of it idles while a last, partly filled wave of blocks runs. Threads loop over the rest.
template <auto kernel>
unsigned filling_blocks(const LaunchOn& on, std::int64_t items, std::int64_t per_block) {
  const std::int64_t wanted = (items + per_block - 1) / per_block;
  const std::int64_t most = std::int64_t{on.multiprocessors} * resident_blocks<kernel, block_threads>();
  return static_cast<unsigned>(std::clamp<std::int64_t>(wanted, 1, most));
}

/// Launches the kernel in filling_blocks().
template <auto kernel, class... Arguments>
cudaError_t launch_filling(const LaunchOn& on, std::int64_t items, std::int64_t per_block, Arguments... arguments) {
  return launch(on, filling_blocks<kernel>(on, items, per_block), block_threads, kernel, arguments...);
}

/// First element and step of the calling thread in a grid-stride loop.
__device__ inline std::int64_t first_index() {
  return static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}
__device__ inline std::int64_t index_step() {
  return static_cast<std::int64_t>(gridDim.x) * blockDim.x;
}

}  // namespace gpubench::cuda
