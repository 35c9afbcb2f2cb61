// Where a kernel is launched: the part of its arguments that all kernels have.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cuda_runtime_api.h>

namespace gpubench::cuda {

struct LaunchOn {
  cudaStream_t stream = nullptr;
  int multiprocessors = 1;
};

/// Threads of a block in kernels that treat each element alike.
inline constexpr int block_threads = 256;

/// Blocks for `items` that `per_block` of fit into a block; threads loop over the rest. Enough to fill the GPU twice
/// over (2048 threads a multiprocessor), so that it has other work while memory answers.
inline unsigned blocks_for(const LaunchOn& on, std::int64_t items, std::int64_t per_block = block_threads) {
  constexpr std::int64_t blocks_per_multiprocessor = 16;
  const std::int64_t wanted = (items + per_block - 1) / per_block;
  return static_cast<unsigned>(std::clamp<std::int64_t>(wanted, 1, on.multiprocessors * blocks_per_multiprocessor));
}

}  // namespace gpubench::cuda
