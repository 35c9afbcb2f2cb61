#include "core/backend/cpu/placement.h"

#include <cstddef>
#include <omp.h>

#include "core/device/bound_thread.h"

namespace gpubench {

void place_on_memory_nodes(std::vector<CpuDeviceOptions>& devices) {
  if (devices.size() < 2 || omp_get_proc_bind() != omp_proc_bind_false) return;
  const std::vector<MemoryNode> nodes = nodes_with(read_memory_nodes(), process_processors());
  std::vector<int> threads;
  for (const CpuDeviceOptions& device : devices) threads.push_back(device.threads);
  const std::vector<int> places = nodes_of_devices(nodes, threads);
  for (std::size_t i = 0; i < devices.size(); ++i) {
    if (places[i] >= 0) devices[i].node = nodes[static_cast<std::size_t>(places[i])];
  }
}

}  // namespace gpubench
