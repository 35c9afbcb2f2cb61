// Ops are tested on the CPU with one thread and with a team.
#include <array>

#include "core/backend/cpu/cpu_backend.h"
#include "tests/support/case_checks.h"

namespace gpubench::support {

const std::vector<Place>& places() {
  static const std::array<CpuDeviceOptions, 2> options{CpuDeviceOptions{.memory = {}, .threads = 1},
                                                       CpuDeviceOptions{.memory = {}, .threads = 3}};
  static const CpuBackend cpu(options);
  static const std::vector<Place> places{{&cpu, cpu.devices()[0].get(), true, true},
                                         {&cpu, cpu.devices()[1].get(), true}};
  return places;
}

std::string why_no_place() {
  return {};
}

}  // namespace gpubench::support
