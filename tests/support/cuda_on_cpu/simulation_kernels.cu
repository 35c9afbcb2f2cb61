#include "core/backend/cuda/kernels/launch.cuh"
#include "tests/support/cuda_on_cpu/simulation_kernels.h"

namespace gpubench::cuda_on_cpu {
namespace {

__global__ void copy_kernel(int* to, const int* from) {
  to[threadIdx.x] = from[threadIdx.x];
}

}  // namespace

cudaError_t launch_copy(cudaStream_t stream, unsigned count, int* to, const int* from) {
  return cuda::launch({stream, 1}, 1, count, &copy_kernel, to, from);
}

}  // namespace gpubench::cuda_on_cpu
