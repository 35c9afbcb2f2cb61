// What a pipeline may use of this machine unless its options say otherwise.
#pragma once
#include <cstdint>

namespace gpubench {

/// Cores that this process may run on: its affinity, and the quota of its control group.
int schedulable_cores();
/// Memory that can be had without swapping, and within the limit of the control group.
std::int64_t free_memory();

}  // namespace gpubench
