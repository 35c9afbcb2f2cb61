#include "core/device/memory_nodes.h"

#include <algorithm>
#include <hwloc.h>
#include <memory>

namespace gpubench {
namespace {

int count_nodes() {
  hwloc_topology_t handle = nullptr;
  if (hwloc_topology_init(&handle) != 0) return 1;
  const std::unique_ptr<hwloc_topology, decltype(&hwloc_topology_destroy)> topology(handle, hwloc_topology_destroy);
  // Only what is asked for: discovering devices takes far longer.
  hwloc_topology_set_all_types_filter(handle, HWLOC_TYPE_FILTER_KEEP_NONE);
  if (hwloc_topology_load(handle) != 0) return 1;
  const hwloc_const_cpuset_t allowed = hwloc_topology_get_allowed_cpuset(handle);
  int nodes = 0;
  for (hwloc_obj_t node = nullptr; (node = hwloc_get_next_obj_by_type(handle, HWLOC_OBJ_NUMANODE, node)) != nullptr;) {
    nodes += hwloc_bitmap_intersects(node->cpuset, allowed);
  }
  return std::max(1, nodes);
}

}  // namespace

int memory_nodes() {
  static const int nodes = count_nodes();
  return nodes;
}

}  // namespace gpubench
