// The clocks of the processors. A virtual machine has no such files: its host decides.
#include <array>
#include <fmt/format.h>

#include "core/doctor/checks.h"
#include "core/telemetry/proc/proc_file.h"

namespace gpubench {
namespace {

constexpr double least_limit_share = 0.98;

std::string frequency_folder(int processor) {
  return fmt::format("sys/devices/system/cpu/cpu{}/cpufreq", processor);
}

/// Of these drivers, "powersave" is the dynamic governor.
bool is_dynamic(const std::string& driver) {
  return driver == "intel_pstate" || driver == "amd-pstate-epp" || driver == "amd_pstate_epp";
}

constexpr const char* governor_remedy = "cpupower frequency-set -g performance, as root";

}  // namespace

CheckResult check_cpu_governor(const Machine& machine) {
  const std::vector<int>& own = machine.sources().processors;
  const int first = own.empty() ? 0 : own.front();
  if (!machine.has(frequency_folder(first))) return ok("not set here: a virtual machine, or fixed clocks");
  std::string governor;
  for (const int processor : own) {
    const std::string folder = frequency_folder(processor);
    if (!machine.has(folder)) continue;
    const FileText file = machine.read(folder + "/scaling_governor");
    if (!file.was_read()) return unknown(file.error);
    governor = trimmed(file.text);
    if (governor.empty()) return unknown(fmt::format("/{}/scaling_governor is empty", folder));
    const std::string driver = trimmed(machine.read(folder + "/scaling_driver").text);
    if (governor == "powersave" && !is_dynamic(driver)) {
      return costs_speed(fmt::format("processor {}: powersave", processor), "it runs at its lowest clock",
                         governor_remedy);
    }
    const std::string preference = trimmed(machine.read(folder + "/energy_performance_preference").text);
    if (governor == "powersave" && (preference == "power" || preference == "balance_power")) {
      return costs_speed(fmt::format("processor {}: the energy preference {}", processor, preference),
                         "its clock rises late and not to the maximum", governor_remedy);
    }
    if (governor == "ondemand" || governor == "conservative") {
      return costs_speed(fmt::format("processor {}: {}", processor, governor),
                         "its clock follows the load late: short kernels run slowly, times scatter", governor_remedy);
    }
    const auto most = leading_number(machine.read(folder + "/cpuinfo_max_freq").text);
    const auto limit = leading_number(machine.read(folder + "/scaling_max_freq").text);
    if (most && limit && *limit < least_limit_share * *most) {
      return costs_speed(
          fmt::format("processor {}: limited to {:.0f} of {:.0f} MHz", processor, *limit / 1e3, *most / 1e3),
          "it runs slower than it can", "cpupower frequency-set -u, as root");
    }
  }
  return ok(governor);
}

}  // namespace gpubench
