// Configurations of devices that tests use.
#pragma once
#include <utility>
#include <vector>

#include "core/backend/registry/devices.h"

namespace gpubench::support {

/// These devices of a kind; those of other kinds as the machine has them.
inline DeviceConfig devices_of(DeviceId::Kind kind, std::vector<LogicalDevice> devices) {
  DeviceConfig config;
  config[kind].devices = std::move(devices);
  return config;
}

inline DeviceConfig cpu_devices(std::vector<LogicalDevice> devices) {
  return devices_of(DeviceId::Kind::cpu, std::move(devices));
}

inline DeviceConfig gpu_devices(std::vector<LogicalDevice> devices) {
  return devices_of(DeviceId::Kind::gpu, std::move(devices));
}

/// No GPU, whatever the machine has.
inline DeviceConfig without_gpus(DeviceConfig config = {}) {
  config[DeviceId::Kind::gpu].devices.emplace();
  return config;
}

}  // namespace gpubench::support
