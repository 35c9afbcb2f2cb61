// The resources that a pipeline may use on this machine, unless its options say otherwise.
#pragma once
#include <cstdint>

namespace gpubench {

/// Cores that this process may use: its affinity, and the CPU quota of its control group.
int schedulable_cores();
/// Memory available without swapping, within the limit of the control group, at most a second ago.
std::int64_t free_memory();

}  // namespace gpubench
