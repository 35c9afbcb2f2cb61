#include "core/device/memory_nodes.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <hwloc.h>
#include <memory>
#include <numeric>
#include <string>

namespace gpubench {
namespace {

std::vector<int> indexes_in(hwloc_const_cpuset_t set) {
  std::vector<int> indexes;
  for (int at = hwloc_bitmap_first(set); at >= 0; at = hwloc_bitmap_next(set, at)) indexes.push_back(at);
  return indexes;
}

bool share_processors(const MemoryNode& one, const MemoryNode& other) {
  return std::ranges::find_first_of(one.processors, other.processors) != one.processors.end();
}

}  // namespace

std::vector<MemoryNode> read_memory_nodes() {
  hwloc_topology_t handle = nullptr;
  if (hwloc_topology_init(&handle) != 0) return {};
  const std::unique_ptr<hwloc_topology, decltype(&hwloc_topology_destroy)> topology(handle, hwloc_topology_destroy);
  // Discovers only what is needed, because discovering devices takes far longer. Without groups all nodes would have
  // all processors.
  hwloc_topology_set_all_types_filter(handle, HWLOC_TYPE_FILTER_KEEP_NONE);
  hwloc_topology_set_type_filter(handle, HWLOC_OBJ_GROUP, HWLOC_TYPE_FILTER_KEEP_STRUCTURE);
  if (hwloc_topology_load(handle) != 0) return {};
  std::vector<MemoryNode> found;
  for (hwloc_obj_t node = nullptr; (node = hwloc_get_next_obj_by_type(handle, HWLOC_OBJ_NUMANODE, node)) != nullptr;) {
    found.push_back({static_cast<int>(node->os_index), indexes_in(node->cpuset)});
  }
  std::ranges::stable_sort(found, {}, [](const MemoryNode& node) { return node.processors.size(); });
  std::vector<MemoryNode> nodes;
  for (MemoryNode& node : found) {
    const auto overlaps = [&](const MemoryNode& kept) { return share_processors(kept, node); };
    if (!node.processors.empty() && std::ranges::none_of(nodes, overlaps)) nodes.push_back(std::move(node));
  }
  std::ranges::sort(nodes, {}, &MemoryNode::index);
  return nodes;
}

std::vector<MemoryNode> nodes_with(std::vector<MemoryNode> nodes, std::span<const int> processors) {
  for (MemoryNode& node : nodes) {
    std::erase_if(node.processors, [&](int one) { return std::ranges::find(processors, one) == processors.end(); });
  }
  std::erase_if(nodes, [](const MemoryNode& node) { return node.processors.empty(); });
  return nodes;
}

std::optional<MemoryNode> node_near(std::string_view bus_id, std::span<const MemoryNode> nodes,
                                    const std::filesystem::path& devices) {
  constexpr std::size_t length = std::string_view("0000:1b:00.0").size();  // the system writes a domain of four digits
  if (nodes.size() < 2 || bus_id.size() < length) return std::nullopt;
  std::string name(bus_id.substr(bus_id.size() - length));
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  int index = -1;
  if (!(std::ifstream(devices / name / "numa_node") >> index)) return std::nullopt;
  const auto found = std::ranges::find(nodes, index, &MemoryNode::index);
  return found == nodes.end() ? std::nullopt : std::optional(*found);
}

std::vector<int> nodes_of_devices(std::span<const MemoryNode> nodes, std::span<const int> threads) {
  std::vector<int> places(threads.size(), -1);
  if (nodes.size() < 2) return places;
  std::int64_t processors = 0;
  for (const MemoryNode& node : nodes) processors += std::ssize(node.processors);
  const std::int64_t all_threads = std::accumulate(threads.begin(), threads.end(), std::int64_t{0});
  std::int64_t before = 0;  // threads of the devices so far
  for (std::size_t device = 0; device < threads.size(); ++device) {
    const std::int64_t middle = (2 * before + threads[device]) * processors;  // in halves of 1 / all_threads
    before += threads[device];
    std::size_t place = 0;
    for (std::int64_t end = std::ssize(nodes[0].processors); 2 * end * all_threads <= middle;) {
      end += std::ssize(nodes[++place].processors);
    }
    if (threads[device] <= std::ssize(nodes[place].processors)) places[device] = static_cast<int>(place);
  }
  return places;
}

}  // namespace gpubench
