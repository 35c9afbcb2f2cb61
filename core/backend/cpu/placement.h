// Where logical CPU devices lie on a machine whose memory has several nodes.
#pragma once
#include <vector>

#include "core/backend/cpu/host_device.h"

namespace gpubench {

/// Gives several devices their nodes, among the processors that this process may use. They stay as they are where
/// there is one device or one node, and where the environment binds OpenMP's threads (OMP_PROC_BIND,
/// GOMP_CPU_AFFINITY). Devices with more threads than a node has processors lie on none.
void place_on_memory_nodes(std::vector<CpuDeviceOptions>& devices);

}  // namespace gpubench
