// Processors that the system calls cores and that share one, as virtual machines often show them.
#include <fmt/format.h>
#include <set>

#include "core/base/units.h"
#include "core/doctor/checks.h"

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

}  // namespace

CheckResult check_cpu_cores(const Machine& machine) {
  const std::vector<int> own = cores(machine);
  if (own.empty()) return unknown("the system does not tell which processors this process may use");
  if (own.size() == 1) return ok("one core");
  const std::optional<double> rate = machine.sources().rate_at_once(own);
  if (!rate) return unknown("threads cannot be bound to processors");
  const std::string found = fmt::format("{} do {:.2g} times the work of one",
                                        format_count(static_cast<std::int64_t>(own.size()), "core"), *rate);
  if (*rate >= least_rate_of_cores * static_cast<double>(own.size())) return ok(found);
  return costs_speed(found + ": they are threads that share cores",
                     "a second thread, worker or replica on the CPU gains little",
                     "ask for a machine or container with whole cores; expect the speed of half the processors");
}

}  // namespace gpubench
