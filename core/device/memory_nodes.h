// The NUMA nodes of this machine and their processors. A logical CPU device that fits on one node runs its threads
// there, and memory that these threads write first is allocated there.
#pragma once
#include <filesystem>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace gpubench {

struct MemoryNode {
  int index = 0;                ///< as the system numbers it
  std::vector<int> processors;  ///< as the system numbers them, ascending; at least one
};

/// All nodes of the machine by ascending index, from hwloc (HWLOC_SYNTHETIC simulates a machine). No processor is in
/// two nodes: if memories of several kinds are close to it, the first and smallest node counts. Empty if hwloc finds
/// none.
std::vector<MemoryNode> read_memory_nodes();

/// `nodes` restricted to these processors; nodes without any of them are dropped.
std::vector<MemoryNode> nodes_with(std::vector<MemoryNode> nodes, std::span<const int> processors);

/// The node to which the PCI device "00000000:1B:00.0" is attached, as `devices` (/sys/bus/pci/devices) says; nothing
/// if there is only one node, or the system does not know.
std::optional<MemoryNode> node_near(std::string_view bus_id, std::span<const MemoryNode> nodes,
                                    const std::filesystem::path& devices = "/sys/bus/pci/devices");

/// Assigns the machine's processors to devices in order, one for each of their `threads`. Returns for each device the
/// index in `nodes` of the node of its middle thread; -1 for a device with more threads than the node has processors,
/// and for all devices if there is only one node.
std::vector<int> nodes_of_devices(std::span<const MemoryNode> nodes, std::span<const int> threads);

}  // namespace gpubench
