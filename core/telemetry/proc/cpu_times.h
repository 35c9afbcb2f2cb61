// Processor time of the machine and of this process, as the kernel counts it.
#pragma once
#include <optional>
#include <string_view>

namespace gpubench {

/// Seconds since the machine started, summed over its processors.
struct MachineTime {
  double busy_s = 0;
  double idle_s = 0;
  double stolen_s = 0;  ///< by the hypervisor, for other machines
};

/// Of the text of /proc/stat, which counts in ticks (ticks_per_second()); nullopt if it is not in that form.
std::optional<MachineTime> machine_time(std::string_view stat);
double ticks_per_second();
/// User and system time of all threads of this process, in nanoseconds where /proc counts ticks.
double process_cpu_seconds();

}  // namespace gpubench
