// The nodes of this machine's memory (NUMA): parts that some processors are nearer to than others. A logical CPU device
// that fits lies on one: there its threads run, and what they are the first to write stays there.
#pragma once
#include <span>
#include <vector>

namespace gpubench {

struct MemoryNode {
  int index = 0;                ///< as the system counts
  std::vector<int> processors;  ///< as the system counts, rising; at least one
};

/// All of the machine, in the order of their indexes, as hwloc finds them (HWLOC_SYNTHETIC makes one up). No processor
/// is in two: where memory of several kinds is near it, the first and smallest part counts. Empty where hwloc finds
/// none.
std::vector<MemoryNode> read_memory_nodes();

/// What is left of `nodes` with these processors alone; without those that have none of them.
std::vector<MemoryNode> nodes_with(std::vector<MemoryNode> nodes, std::span<const int> processors);

/// For devices that fill the machine in order with so many `threads` each: the place in `nodes` of the one that holds
/// the middle of each; -1 for those that need more processors than it has, and for all where there is but one node.
std::vector<int> nodes_of_devices(std::span<const MemoryNode> nodes, std::span<const int> threads);

}  // namespace gpubench
