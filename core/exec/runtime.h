// The world of one replica: the devices it may use, its variables and its arenas. One host thread at a time
// works with a Runtime; others (a pipeline's worker) make their own over the same Devices.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <string_view>

#include "core/backend/registry/devices.h"
#include "core/exec/arena.h"
#include "core/exec/variable_store.h"

namespace gpubench {

class Runtime {
 public:
  explicit Runtime(const Devices& devices) : devices_(devices), variables_(devices) {}

  const Devices& devices() const { return devices_; }
  VariableStore& variables() { return variables_; }
  Stream& stream(const DeviceId& device) { return devices_.device(device).stream(); }
  Arena::Claim claim_arena(const DeviceId& device, std::size_t bytes, std::string_view label);
  /// Size of the arena that all plans on `device` share; 0 without one.
  std::size_t arena_bytes(const DeviceId& device) const;
  /// Memory of the host for tensors of `device` that wait there (Devices::host_side).
  Arena::Claim claim_host_arena(const DeviceId& device, std::size_t bytes, std::string_view label);
  /// Makes executors record their segments anew when they next run: a tracer knows only work that was recorded while it
  /// traced.
  void renew_recordings() { ++recordings_; }
  std::uint64_t recordings() const { return recordings_; }
  /// Blocks until all work queued on the devices is done.
  void synchronize();
  /// synchronize() for destructors: a device that fails has nothing left to wait for.
  void drain() noexcept;

 private:
  const Devices& devices_;
  VariableStore variables_;
  std::map<DeviceId, std::shared_ptr<Arena>> arenas_, host_arenas_;
  std::uint64_t recordings_ = 0;
};

}  // namespace gpubench
