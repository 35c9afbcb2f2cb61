#include "core/device/device_fault.h"

#include <algorithm>
#include <vector>

namespace gpubench {

std::string to_string(const std::optional<DeviceFault>& fault) {
  return fault ? fault->reason + "; " + fault->remedy : std::string();
}

DeviceFault fault_of_all(std::span<const DeviceFault> faults) {
  DeviceFault all;
  for (const DeviceFault& fault : faults) {
    all.reason += (all.reason.empty() ? "" : "; ") + fault.reason;
    if (all.remedy.find(fault.remedy) != std::string::npos) continue;
    all.remedy += (all.remedy.empty() ? "" : "; ") + fault.remedy;
  }
  return all;
}

}  // namespace gpubench
