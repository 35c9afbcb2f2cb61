// Block-wide reduction by CUB; apart from device.cuh because CUB takes seconds to compile.
#pragma once
#include <cub/block/block_reduce.cuh>

#include "core/backend/cuda/kernels/device.cuh"

namespace gpubench::cuda {

/// Combines one value from each of the block's `threads` threads; only thread 0 receives the result. All threads must
/// call it, with __syncthreads() between two calls.
template <int threads, class T, class Combine>
__device__ T block_reduce(T value, Combine combine) {
  using Reduce = cub::BlockReduce<T, threads>;
  __shared__ typename Reduce::TempStorage storage;
  return Reduce(storage).Reduce(value, combine);
}

}  // namespace gpubench::cuda
