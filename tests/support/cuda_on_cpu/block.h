// Runs the threads of a CUDA grid on the CPU: block after block, each thread of a block a fibre of its own, so that
// barriers and exchanges between the lanes of a warp mean what they mean on a GPU. A barrier that only some threads
// reach is an error of the kernel and ends the test.
#pragma once
#include <cstring>
#include <string_view>
#include <vector_types.h>

namespace gpubench::cuda_on_cpu {

struct Grid {
  dim3 blocks, threads;
};

/// What GPUs launch: no extent of 0, blocks of at most 1024 threads, grids of at most 65 535 blocks in y and z (CUDA
/// C++ Programming Guide, "Compute Capabilities").
bool within_limits(const Grid& grid);

/// CUDA's built-in variables for the thread that runs now.
struct Now {
  uint3 thread{}, block{};
  dim3 threads, blocks;
};
extern Now now;

/// A kernel and what it is called with.
struct Call {
  const void* kernel;  ///< its function
  const void* arguments;
  std::size_t argument_bytes;
  void (*run)(const void* arguments);
};

/// Runs the call once for each thread of the grid.
void run_grid(const Grid& grid, const Call& call);
/// The one whose threads run now; nullptr outside of kernels.
const Call* running_kernel();
/// Whether the address is one of the running thread's stack.
bool is_on_stack(const void* at);

/// Ends the test: says which kernel, block and thread it was, or that it was a call of a library.
[[noreturn]] void fail_work(std::string_view why);

/// Ends the test when the address is no multiple of `bytes`: a GPU faults at such a load or store.
void check_alignment(const void* address, std::size_t bytes);

/// Return when all threads of the block, or of the caller's warp, have called; threads that have ended do not count.
void wait_for_block();
void wait_for_warp();

/// Memory of the caller's warp for an exchange: a slot of 16 bytes a lane.
inline constexpr std::size_t slot_bytes = 16;
std::byte* warp_slots();
int lane();

/// Every lane gives `value` and takes that of the lane from(own lane).
template <class T, class From>
T exchange(T value, const From& from) {
  static_assert(sizeof(T) <= slot_bytes);
  std::byte* const slots = warp_slots();
  std::memcpy(slots + slot_bytes * static_cast<std::size_t>(lane()), &value, sizeof(T));
  wait_for_warp();
  std::memcpy(&value, slots + slot_bytes * static_cast<std::size_t>(from(lane())), sizeof(T));
  wait_for_warp();
  return value;
}

}  // namespace gpubench::cuda_on_cpu
