// Places buffers with known lifetimes into one block, so that those alive at one time never overlap. Largest first,
// each into the lowest gap that fits (Pisarchyk and Lee, "Efficient Memory Management for Deep Neural Net Inference",
// 2020: "greedy by size"). While that is above the lower bound, buffers that lie above it are placed sooner and all is
// placed again, a few hundred times, from the largest and from the longest-lived on; the best placement stays.
#pragma once
#include <cstddef>
#include <span>
#include <vector>

namespace gpubench {

/// A buffer that is written at step `first` and last read at step `last`, both included.
struct Lifetime {
  int first = 0;
  int last = 0;
  std::size_t bytes = 0;
};

struct MemoryPlan {
  std::vector<std::size_t> offsets;  ///< one per lifetime
  std::size_t total = 0;             ///< bytes of the block
  std::size_t lower_bound = 0;       ///< the largest sum of bytes alive at one step
};

/// Offsets are multiples of `alignment`, to which sizes are rounded up.
MemoryPlan plan_memory(std::span<const Lifetime> lifetimes, std::size_t alignment = 64);

}  // namespace gpubench
