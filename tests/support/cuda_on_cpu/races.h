// What the threads of a launch do to memory: which bytes of shared memory a block's threads touched since which
// barrier, and which of a GPU's memory threads of this block or of another. Shared memory consists of static variables,
// so its bytes are those of the program's writable segment.
#pragma once
#include <cstddef>
#include <string>

namespace gpubench::cuda_on_cpu {

/// Whether the address is one of the program's static variables that can be written, less CUDA's built-in ones.
bool is_shared_memory(const void* at);

/// Kernels of one stream come after each other.
void begin_launch();
/// The block that starts shares nothing with those before it.
void begin_shared_memory();
/// All threads of the block have come to __syncthreads(), or those lanes of the warp to __syncwarp().
void order_block();
void order_lanes(unsigned warp, unsigned lanes);

/// Notes what the running thread does to shared memory or a GPU's. Says with which other thread's access it races: one
/// of them writes, and no barrier lies between. Empty for none. Different bytes of one word do not race. Nothing orders
/// two blocks of a launch: kernels of gpubench have no atomics.
std::string race_of(const void* at, std::size_t bytes, bool writes, unsigned thread);

/// The first byte that no thread of this block has written; nullptr for none.
const std::byte* first_unwritten_of_block(const void* at, std::size_t bytes);

}  // namespace gpubench::cuda_on_cpu
