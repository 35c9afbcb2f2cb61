#include "core/backend/cuda/kernels/launch.cuh"
#include "tests/support/cuda_on_cpu/simulation_kernels.h"

namespace gpubench::cuda_on_cpu {
namespace {

__global__ void copy_kernel(int* to, const int* from) {
  to[threadIdx.x] = from[threadIdx.x];
}

__global__ void through_shared_kernel(unsigned written, int* to) {
  __shared__ int value;
  if (blockIdx.x < written) value = static_cast<int>(blockIdx.x);
  to[blockIdx.x] = value;
}

constexpr unsigned lower_half = 0x0000FFFFU, upper_evens = 0x55550000U, all_lanes = 0xFFFFFFFFU;

__global__ void diverging_warp_kernel(unsigned* sums) {
  const unsigned lane = threadIdx.x;
  unsigned result = 0;
  if (lane < 16) {
    result = lane;
    for (int distance = 8; distance > 0; distance /= 2) result += __shfl_xor_sync(lower_half, result, distance);
  } else {
    for (unsigned step = 0; step < lane; ++step) __syncwarp(1U << lane);
    if (lane % 2 == 0) result = __ballot_sync(upper_evens, lane >= 24);
  }
  __syncwarp();
  sums[lane] = result + __shfl_sync(all_lanes, lane, 0);
}

__global__ void wrong_warp_kernel(WarpFault fault) {
  const unsigned lane = threadIdx.x;
  switch (fault) {
    case WarpFault::caller_not_in_mask:
      if (lane < 16) __syncwarp(lower_half & ~(1U << 5));
      break;
    case WarpFault::different_masks:
      if (lane == 0) __syncwarp(0x3U);
      if (lane == 1) __syncwarp(0x7U);
      break;
    case WarpFault::value_of_no_lane:
      if (lane < 16) __shfl_xor_sync(lower_half, lane, 16);
      break;
    case WarpFault::lane_that_never_comes:
      if (lane == 0) __syncwarp();
      __syncthreads();
      break;
  }
}

__global__ void turning_kernel(MissingBarrier missing, int* to) {
  __shared__ int values[64];
  const unsigned thread = threadIdx.x, warp = thread / 32 * 32;
  int value = static_cast<int>(thread);
  for (int turn = 0; turn < 2; ++turn) {
    values[thread] = value;
    if (missing != MissingBarrier::of_warp) __syncwarp();
    value = values[warp + 31 - thread % 32];
    __syncwarp();
    values[thread] = value;
    if (missing != MissingBarrier::of_block) __syncthreads();
    value = values[63 - thread];
    if (missing != MissingBarrier::before_reuse) __syncthreads();
  }
  to[thread] = value;
}

__global__ void nothing_kernel() {}

struct alignas(16) Quad {
  int values[4];
};

__global__ void wrong_global_kernel(GlobalFault fault, int* memory) {
  const unsigned block = blockIdx.x, thread = threadIdx.x;
  switch (fault) {
    case GlobalFault::block_reads_from_another:
      memory[block + 1] = memory[block] + 1;
      break;
    case GlobalFault::block_writes_of_another:
      memory[0] = static_cast<int>(block);
      break;
    case GlobalFault::thread_reads_from_another:
      memory[thread] = static_cast<int>(thread);
      memory[blockDim.x + thread] = memory[(thread + 1) % blockDim.x];
      break;
    case GlobalFault::half_of_a_number:
      memory[4] = *reinterpret_cast<const double*>(memory) > 0 ? 1 : 0;
      break;
    case GlobalFault::misaligned_quad: {
      const Quad quad = *reinterpret_cast<const Quad*>(memory + 2);
      memory[0] = quad.values[0] + quad.values[3];
      break;
    }
    case GlobalFault::misaligned_store:
      *reinterpret_cast<double*>(memory + 1) = 0;
      break;
  }
}

}  // namespace

cudaError_t launch_nothing(const cudaLaunchConfig_t& config) {
  return cudaLaunchKernelEx(&config, &nothing_kernel);
}

const void* nothing_kernel_function() {
  return reinterpret_cast<const void*>(&nothing_kernel);
}

cudaError_t launch_wrong_global(cudaStream_t stream, GlobalFault fault, unsigned count, int* memory) {
  const bool one_block = fault == GlobalFault::thread_reads_from_another;
  return cuda::launch({stream, 1}, one_block ? 1 : count, one_block ? count : 1, &wrong_global_kernel, fault, memory);
}

cudaError_t launch_through_shared(cudaStream_t stream, unsigned count, unsigned written, int* to) {
  return cuda::launch({stream, 1}, count, 1, &through_shared_kernel, written, to);
}

cudaError_t launch_turning(cudaStream_t stream, MissingBarrier missing, int* to) {
  return cuda::launch({stream, 1}, 1, 64, &turning_kernel, missing, to);
}

cudaError_t launch_diverging_warp(cudaStream_t stream, unsigned* sums) {
  return cuda::launch({stream, 1}, 1, 32, &diverging_warp_kernel, sums);
}

cudaError_t launch_wrong_warp(cudaStream_t stream, WarpFault fault) {
  return cuda::launch({stream, 1}, 1, 32, &wrong_warp_kernel, fault);
}

cudaError_t launch_copy(cudaStream_t stream, unsigned count, int* to, const int* from) {
  return cuda::launch({stream, 1}, 1, count, &copy_kernel, to, from);
}

}  // namespace gpubench::cuda_on_cpu
