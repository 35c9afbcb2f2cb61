// Every device of this machine, whichever backend it belongs to. devices.cpp is the one file that names the backends.
#pragma once
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/backend/backend.h"

namespace gpubench {

/// How the devices of each kind are made; a kind that is not named gets the defaults of its backend.
using DeviceConfig = std::map<DeviceId::Kind, BackendConfig>;

/// The kinds that have a backend, in the order in which scripts list their devices: GPUs first, CPUs last.
std::vector<DeviceId::Kind> device_kinds();
/// One whole device for each that is there; none where there is none to use.
std::vector<LogicalDevice> physical_devices(DeviceId::Kind kind);

class Devices {
 public:
  explicit Devices(const DeviceConfig& config);
  /// In the order of device_kinds().
  std::vector<DeviceId> ids() const;
  /// Throws Error listing the devices that are there.
  Device& device(const DeviceId& id) const;
  const Backend& backend(const DeviceId& id) const;
  /// The host's memory for what `id` has no room for: page-locked where its copies are faster from there, else that of
  /// cpu:0. Throws Error for cpu:0, which is the host.
  MemoryPool& host_side(const DeviceId& id) const;
  /// Where things go without a device scope: the first of ids().
  const DeviceId& default_device() const { return places_.front().device->id(); }
  /// Why there is no device of the kind to use; empty when there is one.
  std::string absence(DeviceId::Kind kind) const;
  /// The physical devices that are there and cannot be used, each with the reason: "GPU 1: ...".
  std::vector<std::string> unusable() const;

 private:
  struct Place {
    const Backend* backend;
    Device* device;
  };
  const Place& find(const DeviceId& id) const;

  std::map<DeviceId::Kind, std::unique_ptr<Backend>> backends_;
  std::vector<Place> places_;
};

}  // namespace gpubench
