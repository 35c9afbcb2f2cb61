// Why a device cannot be used, and what to do about it. Backends put both into their errors; `gpubench doctor` shows
// the remedy on a line of its own.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "core/base/error.h"

namespace gpubench {

struct DeviceFault {
  std::string reason;  ///< "/dev/nvidia0 may not be opened by this user (it belongs to group video)"
  std::string remedy;  ///< "add the user to the group video"
};
/// "REASON; REMEDY"; empty for none.
std::string to_string(const std::optional<DeviceFault>& fault);
/// All reasons, and each remedy once.
DeviceFault fault_of_all(std::span<const DeviceFault> faults);

/// The device is there, and this process cannot use it. Only a use shows that.
class UnusableDevice : public Error {
 public:
  explicit UnusableDevice(DeviceFault fault)
      : Error(to_string(fault) + "; gpubench devices lists the devices that can be used"), fault_(std::move(fault)) {}
  const DeviceFault& fault() const { return fault_; }

 private:
  DeviceFault fault_;
};

}  // namespace gpubench
