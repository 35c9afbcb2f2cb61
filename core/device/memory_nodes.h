// The nodes of this machine's memory (NUMA), each of which is near to some of the processors. A logical CPU device that
// fits on one node runs its threads there, and memory that these threads write first lies there.
#pragma once
#include <span>
#include <vector>

namespace gpubench {

struct MemoryNode {
  int index = 0;                ///< as the system counts
  std::vector<int> processors;  ///< as the system counts, rising; at least one
};

/// All nodes of the machine by rising index, as hwloc finds them (HWLOC_SYNTHETIC makes up a machine). No processor is
/// in two nodes: where memory of several kinds is near it, the first and smallest node counts. Empty where hwloc finds
/// none.
std::vector<MemoryNode> read_memory_nodes();

/// `nodes` with these processors only; nodes that have none of them are left out.
std::vector<MemoryNode> nodes_with(std::vector<MemoryNode> nodes, std::span<const int> processors);

/// Devices take the machine's processors in order, one for each of their `threads`. Returns for each device the index
/// in `nodes` of the node that holds its middle thread; -1 for a device with more threads than the node has processors,
/// and for all devices where there is one node only.
std::vector<int> nodes_of_devices(std::span<const MemoryNode> nodes, std::span<const int> threads);

}  // namespace gpubench
