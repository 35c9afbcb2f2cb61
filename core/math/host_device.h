// Marks functions that are compiled both for the CPU's loops and for GPU kernels. Nothing in this folder includes the
// rest of the engine.
#pragma once

#if defined(__CUDACC__)
#define GPUBENCH_HOST_DEVICE __host__ __device__ __forceinline__
#else
#define GPUBENCH_HOST_DEVICE inline __attribute__((always_inline))
#endif
