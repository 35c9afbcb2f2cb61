// The launch arguments that all kernels have in common.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cuda_runtime_api.h>

namespace gpubench::cuda {

struct LaunchOn {
  cudaStream_t stream = nullptr;
  int multiprocessors = 1;
};

/// Threads per block in kernels that treat all elements alike.
inline constexpr int block_threads = 256;

/// Number of blocks for `items`, `per_block` of which fit into a block; threads loop over the rest. At most enough to
/// fill the GPU twice over (2048 threads per multiprocessor), so that it has other work while loads are pending.
inline unsigned blocks_for(const LaunchOn& on, std::int64_t items, std::int64_t per_block = block_threads) {
  constexpr std::int64_t blocks_per_multiprocessor = 16;
  const std::int64_t wanted = (items + per_block - 1) / per_block;
  return static_cast<unsigned>(std::clamp<std::int64_t>(wanted, 1, on.multiprocessors * blocks_per_multiprocessor));
}

}  // namespace gpubench::cuda
