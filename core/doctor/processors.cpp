// The processors: what others use of them, whether they are cores of their own, and their clocks.
#include <algorithm>
#include <array>
#include <chrono>
#include <fmt/format.h>
#include <set>
#include <thread>

#include "core/base/units.h"
#include "core/doctor/checks.h"
#include "core/telemetry/proc/proc_file.h"

namespace gpubench {
namespace {

/// Clocks fall by up to a quarter where all cores work; two threads of one core do 0.5 to 0.65 times the work of two
/// cores.
constexpr double least_rate_of_cores = 0.7;

/// One processor of each core that the system tells of.
std::vector<int> cores(const Machine& machine) {
  std::vector<int> firsts;
  std::set<std::string> seen;
  for (const int processor : machine.sources().processors) {
    const FileText siblings =
        machine.read(fmt::format("sys/devices/system/cpu/cpu{}/topology/thread_siblings_list", processor));
    if (siblings.was_read() && !seen.insert(siblings.text).second) continue;
    firsts.push_back(processor);
  }
  return firsts;
}

/// A hypervisor may put two processors on one core for a while. Those that are threads of one core are so each time.
constexpr int looks_at_rate = 5;
constexpr std::chrono::milliseconds between_looks{200};

/// The highest that is seen; looks again only while it is too low for cores.
std::optional<double> highest_rate(const Machine& machine, const std::vector<int>& own) {
  std::optional<double> highest;
  for (int look = 0; look < looks_at_rate; ++look) {
    if (look > 0) std::this_thread::sleep_for(between_looks);
    const std::optional<double> rate = machine.sources().rate_at_once(own);
    if (!rate) return std::nullopt;
    highest = std::max(highest.value_or(0), *rate);
    if (*highest >= least_rate_of_cores * static_cast<double>(own.size())) break;
  }
  return highest;
}

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

CheckResult load_result(const Contention& contention) {
  if (!contention.others_share && !contention.stolen_share) {
    return unknown("the system does not tell how busy the processors are");
  }
  const std::string found =
      fmt::format("other programs use {:.0f} % of the processors, the hypervisor takes {:.0f} %",
                  100 * contention.others_share.value_or(0), 100 * contention.stolen_share.value_or(0));
  if (contention.is_idle()) return ok(found);
  return costs_speed(found, "kernels on the CPU, pipelines and launches wait; rows that this disturbs do not count",
                     "end the other programs, or wait for an idle machine: --wait-idle 600");
}

CheckResult check_load(const Machine& machine) {
  return load_result(machine.sources().look_at_load());
}

// Processors that the system calls cores may share one, as virtual machines often show them.
CheckResult check_cpu_cores(const Machine& machine) {
  const std::vector<int> own = cores(machine);
  if (own.empty()) return unknown("the system does not tell which processors this process may use");
  if (own.size() == 1) return ok("one core");
  const std::optional<double> rate = highest_rate(machine, own);
  if (!rate) return unknown("threads cannot be bound to processors");
  const std::string found = fmt::format("{} do {:.2g} times the work of one",
                                        format_count(static_cast<std::int64_t>(own.size()), "core"), *rate);
  if (*rate >= least_rate_of_cores * static_cast<double>(own.size())) return ok(found);
  return costs_speed(found + ": they are threads that share cores",
                     "a second thread, worker or replica on the CPU gains little",
                     "ask for a machine or container with whole cores; expect the speed of half the processors");
}

// A virtual machine has no files of clocks: its host decides.
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
