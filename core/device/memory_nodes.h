// The nodes of this machine's memory (NUMA): parts that some processors are nearer to than others.
#pragma once

namespace gpubench {

/// Those with processors that this process may run on; at least 1.
int memory_nodes();

}  // namespace gpubench
