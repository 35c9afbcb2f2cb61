#include "core/telemetry/proc/cpu_times.h"

#include <array>
#include <ctime>
#include <sstream>
#include <string>
#include <unistd.h>

namespace gpubench {

// The line "cpu user nice system idle iowait irq softirq steal ..." of proc(5)'s stat; guest time is part of user time.
std::optional<MachineTime> machine_time(std::string_view stat) {
  std::istringstream fields{std::string(stat)};
  std::string label;
  std::array<double, 8> seconds{};
  if (!(fields >> label) || label != "cpu") return std::nullopt;
  for (double& one : seconds) {
    if (!(fields >> one)) return std::nullopt;
    one /= ticks_per_second();
  }
  const auto& [user, nice, system, idle, iowait, irq, softirq, steal] = seconds;
  return MachineTime{.busy_s = user + nice + system + irq + softirq, .idle_s = idle + iowait, .stolen_s = steal};
}

double ticks_per_second() {
  return static_cast<double>(::sysconf(_SC_CLK_TCK));
}

double process_cpu_seconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

}  // namespace gpubench
