// Kernels for tests of the simulation: most are wrong, by themselves or by the memory that they are given.
#pragma once
#include <cuda_runtime_api.h>

namespace gpubench::cuda_on_cpu {

/// to[i] = from[i] for each of `count` threads.
cudaError_t launch_copy(cudaStream_t stream, unsigned count, int* to, const int* from);

/// A block for each of `count` numbers: only those below `written` go through shared memory.
cudaError_t launch_through_shared(cudaStream_t stream, unsigned count, unsigned written, int* to);

/// One warp, whose lower half adds up its lanes' numbers by shuffles while each lane of the upper half takes as many
/// steps as its number; those with an even number vote, and all meet. sums[lane] is a sum below lane 16, a vote from
/// there on.
cudaError_t launch_diverging_warp(cudaStream_t stream, unsigned* sums);

enum class WarpFault {
  caller_not_in_mask,     ///< lane 5 calls with the mask of the lower half but itself
  different_masks,        ///< lanes 0 and 1 name each other with different masks
  value_of_no_lane,       ///< the lower half takes values of the upper
  lane_that_never_comes,  ///< lane 0 waits for all at __syncwarp(), the others at __syncthreads()
};
cudaError_t launch_wrong_warp(cudaStream_t stream, WarpFault fault);

/// Where a barrier is left out of a kernel whose 64 threads turn numbers round in shared memory, a warp's first and
/// then the block's, and then do it again.
enum class MissingBarrier { none, of_warp, of_block, before_reuse };
cudaError_t launch_turning(cudaStream_t stream, MissingBarrier missing, int* to);

/// A kernel that does nothing, with CUDA's own launch.
cudaError_t launch_nothing(const cudaLaunchConfig_t& config);
const void* nothing_kernel_function();

enum class GlobalFault {
  block_reads_from_another,   ///< each block takes what the one before it stores
  block_writes_of_another,    ///< all blocks store one number
  thread_reads_from_another,  ///< threads of one block exchange numbers with no barrier between
  half_of_a_number,           ///< a load of eight bytes
  misaligned_quad,            ///< a load of 16 bytes at an address that is no multiple of 16
  misaligned_store,           ///< a store of 8 bytes at an address that is no multiple of 8
};
/// Blocks of one thread but for threads, `count` of them.
cudaError_t launch_wrong_global(cudaStream_t stream, GlobalFault fault, unsigned count, int* memory);

}  // namespace gpubench::cuda_on_cpu
