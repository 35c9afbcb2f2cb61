// Places buffers with known lifetimes into one block so that buffers alive at the same time do not overlap. Largest
// first, each into the lowest gap that fits (Pisarchyk and Lee, "Efficient Memory Management for Deep Neural Net
// Inference", 2020: "greedy by size"). If the total exceeds the lower bound, the buffers above the bound are moved
// forward in the order and all are placed again, up to a few hundred times, starting from the orders by size and by
// lifetime; the best placement is kept.
#pragma once
#include <cstddef>
#include <span>
#include <vector>

namespace gpubench {

/// A buffer that is written at step `first` and last read at step `last`, both inclusive.
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

/// Offsets are multiples of `alignment`; sizes are rounded up to it.
MemoryPlan plan_memory(std::span<const Lifetime> lifetimes, std::size_t alignment = 64);

}  // namespace gpubench
