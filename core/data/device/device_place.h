// The device on which a stage works, with shared ownership of the set of devices.
#pragma once
#include <memory>

#include "core/backend/registry/devices.h"
#include "core/device/device.h"

namespace gpubench {

struct DevicePlace {
  std::shared_ptr<const Devices> devices;
  DeviceId id;

  Device& device() const { return devices->device(id); }
  /// Whether the device's memory cannot be read by the host.
  bool apart() const { return !device().shares_host_memory(); }
  bool operator==(const DevicePlace&) const = default;
};

}  // namespace gpubench
