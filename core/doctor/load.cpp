#include <fmt/format.h>

#include "core/doctor/checks.h"

namespace gpubench {

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

}  // namespace gpubench
