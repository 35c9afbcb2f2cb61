// Whether processors are cores of their own. Two threads of one core do little more together than one of them alone,
// and a virtual machine may show them as two cores.
#pragma once
#include <optional>
#include <vector>

namespace gpubench {

/// How many times the arithmetic of one processor alone `processors` do at once: 3.9 of 4 cores, 2 of 4 threads of two
/// cores. It counts the time that the threads ran, so other programs hardly change it. Takes about 0.1 s. nullopt if a
/// thread cannot be bound to its processor; throws Error if one cannot be started.
std::optional<double> rate_at_once(const std::vector<int>& processors);

}  // namespace gpubench
