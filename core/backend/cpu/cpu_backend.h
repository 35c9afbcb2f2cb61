// Plans ops for the CPU: oneDNN where it is fast, our own loops elsewhere. Its devices are logical: shares of one
// processor's threads, each with its own memory pool.
#pragma once
#include <memory>
#include <span>
#include <vector>

#include "core/backend/backend.h"
#include "core/backend/cpu/host_device.h"

namespace gpubench {

struct CpuOptions {
  int threads = 0;  ///< total over all devices; 0: one per core
};

class CpuBackend final : public Backend {
 public:
  /// Devices without a thread count share the remaining threads evenly; each gets at least one. If there are several
  /// devices, each one's threads and memory are bound to NUMA nodes.
  explicit CpuBackend(const BackendConfig& config);
  /// cpu:0, cpu:1, ...: one per entry. Throws Error when there is none.
  explicit CpuBackend(std::span<const CpuDeviceOptions> devices);

  /// All of the machine's processors form one device.
  static std::vector<LogicalDevice> physical_devices() { return {LogicalDevice{.named = false}}; }

  std::string_view name() const override { return "cpu"; }
  std::span<const std::unique_ptr<Device>> devices() const override { return devices_; }
  std::string library() const override;
  std::unique_ptr<Tracer> new_tracer() const override;
  bool fuses(const Op& op, const Signature& signature, Device& device) const override;
  std::unique_ptr<Kernel> plan(const Op& op, const Signature& signature, Device& device) const override;

 private:
  std::vector<std::unique_ptr<Device>> devices_;
};

}  // namespace gpubench
