// Runs the threads of a CUDA grid on the CPU: block after block, the last one first or in a random order (queue.h),
// each thread of a block a fibre of its own, so that barriers and exchanges between the lanes of a warp mean what they
// mean on a GPU. A barrier that only some threads reach is an error of the kernel and ends the test.
#pragma once
#include <cstring>
#include <string_view>
#include <vector_types.h>

#include "tests/support/cuda_on_cpu/warp.h"

namespace gpubench::cuda_on_cpu {

struct Grid {
  dim3 blocks, threads;
};

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
/// The running thread's number in its block, and the thread of a number.
unsigned running_thread();
uint3 thread_at(unsigned number);
/// Whether the address is one of the running thread's stack.
bool is_on_stack(const void* at);

/// Ends the test: says which kernel, block and thread it was, or that it was a call of a library.
[[noreturn]] void fail_work(std::string_view why);

/// Ends the test when the address is no multiple of `bytes`: a GPU faults at such a load or store.
void check_alignment(const void* address, std::size_t bytes);

/// __syncthreads(): returns when all threads of the block have called; threads that have ended do not count.
void wait_for_block();

/// The caller's lane comes to a meeting of its warp with a value, and takes one.
Warp::Value meet(const Meeting& meeting, const Warp::Value& given);
int lane();

/// Every lane of the mask gives `value` and takes that of lane `from`.
template <class T>
T exchange(unsigned lanes, T value, int from) {
  static_assert(sizeof(T) <= lane_bytes);
  Warp::Value given{};
  std::memcpy(given.data(), &value, sizeof(T));
  const Warp::Value taken = meet({Meeting::Kind::shuffle, lanes, from}, given);
  std::memcpy(&value, taken.data(), sizeof(T));
  return value;
}

}  // namespace gpubench::cuda_on_cpu
