// All devices of this machine, over all backends. devices.cpp is the only file that names the backends.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "core/backend/backend.h"

namespace gpubench {

/// Configuration for each kind of device; kinds that are absent get their backend's defaults.
using DeviceConfig = std::map<DeviceId::Kind, BackendConfig>;

/// The kinds with a backend, in the order in which scripts list their devices: GPUs first, CPUs last.
std::vector<DeviceId::Kind> device_kinds();
/// One whole device for each physical one; empty if none can be used.
std::vector<LogicalDevice> physical_devices(DeviceId::Kind kind);

class Devices {
 public:
  explicit Devices(const DeviceConfig& config);
  /// Those of the machine in the order of device_kinds(), then those that were made because they were named, in the
  /// order of their first use. Without those that are known to be unusable(); tries none (Device::in_use).
  std::vector<DeviceId> ids() const;
  /// Whether the device is one of the machine's, usable or not.
  bool has(const DeviceId& id) const;
  /// ids(), after a use of each. Throws UnusableDevice for a device that the configuration names and that cannot be
  /// used.
  std::vector<DeviceId> usable() const;
  /// Begins the use of the device. Returns why it cannot be used, nullopt if it can.
  std::optional<DeviceFault> fault(const DeviceId& id) const;
  /// Makes a device that exists once it is named (Backend::named). Throws Error listing the existing devices.
  Device& device(const DeviceId& id) const;
  const Backend& backend(const DeviceId& id) const;
  /// Host memory for tensors that device `id` has no room for: page-locked if that makes its copies faster, else the
  /// pool of cpu:0. Throws Error for cpu:0, which already is the host.
  MemoryPool& host_side(const DeviceId& id) const;
  /// For the memory pools of all devices, also of those that are made later (MemoryPool::set_pressure_handler).
  void set_pressure_handler(std::function<void()> relieve);
  /// A tracer that records all devices that hold memory. Throws Error with the reason if tracing is impossible.
  std::unique_ptr<Tracer> new_tracer() const;
  /// The device for work outside a device scope: the first that can be used. Begins its use; throws as usable().
  const DeviceId& default_device() const;
  /// The reason why there is no device of the kind, or why all of them are unusable(); nullopt otherwise.
  std::optional<DeviceFault> absence(DeviceId::Kind kind) const;
  /// Why each device of the kind cannot be used that failed in fault(), usable() or default_device(): "GPU 1 (NVIDIA
  /// H100) cannot be used: ...".
  std::vector<DeviceFault> unusable(DeviceId::Kind kind) const;

 private:
  struct Place {
    const Backend* backend;
    Device* device;
    bool named = false;  // by the configuration
  };
  Place find(const DeviceId& id) const;
  bool can_use(const Place& place) const;
  Device* make_named(const DeviceId& id) const;

  std::map<DeviceId::Kind, std::unique_ptr<Backend>> backends_;
  std::vector<Place> places_;  // of the machine
  mutable std::mutex mutex_;   // for what follows
  mutable std::vector<Device*> named_;
  mutable std::map<const Device*, DeviceFault> faults_;
  std::function<void()> relieve_;
};

}  // namespace gpubench
