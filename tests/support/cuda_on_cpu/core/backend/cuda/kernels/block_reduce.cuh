// Stands for the file of this path when tests compile kernels for the CPU.
#pragma once
#include "core/backend/cuda/kernels/device.cuh"

namespace gpubench::cuda {

template <int threads, class T, class Combine>
T block_reduce(T value, Combine combine) {
  __shared__ T values[threads];
  values[threadIdx.x] = value;
  __syncthreads();
  if (threadIdx.x != 0) return value;
  for (int i = 1; i < threads; ++i) value = combine(value, values[i]);
  return value;
}

}  // namespace gpubench::cuda
