// Kernels for tests of the simulation: most are wrong, by themselves or by the memory that they are given.
#pragma once
#include <cuda_runtime_api.h>

namespace gpubench::cuda_on_cpu {

/// to[i] = from[i] for each of `count` threads.
cudaError_t launch_copy(cudaStream_t stream, unsigned count, int* to, const int* from);

}  // namespace gpubench::cuda_on_cpu
