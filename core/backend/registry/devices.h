// Every device of this machine, whichever backend it belongs to. devices.cpp is the one file that names the backends.
#pragma once
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/backend/backend.h"
#include "core/backend/gpu_options.h"
#include "core/device/memory_pool.h"
#include "core/tensor/device_id.h"

namespace gpubench {

/// One logical CPU device.
struct CpuDeviceConfig {
  PoolOptions memory;
  int threads = 0;  ///< 0: an equal share of what the others leave
};

struct DeviceConfig {
  /// The logical GPUs; without a value one per GPU that CUDA sees.
  std::optional<std::vector<GpuDeviceOptions>> gpus = std::nullopt;
  /// The logical devices that the machine's CPU is split into; at least one.
  std::vector<CpuDeviceConfig> cpus{1};
  /// Threads for all CPU devices together; 0: one per core.
  int threads = 0;
  /// Whether GPUs may compute float32 products and convolutions in TF32.
  bool tf32 = false;
  /// How many algorithms GPUs measure for a product before they take one; below 2 none.
  int matmul_search = 0;
};

/// One whole GPU per GPU that CUDA sees; none where there is none to use.
std::vector<GpuDeviceOptions> visible_gpus();

class Devices {
 public:
  explicit Devices(const DeviceConfig& config);
  /// In the order in which scripts list them: GPUs first, CPUs last; emulated ones are not listed.
  std::vector<DeviceId> ids() const;
  /// Throws Error listing the devices that are there.
  Device& device(const DeviceId& id) const;
  const Backend& backend(const DeviceId& id) const;
  /// The host's memory for what `id` has no room for: page-locked where its copies are faster from there, else that of
  /// cpu:0. Throws Error for cpu:0, which is the host.
  MemoryPool& host_side(const DeviceId& id) const;
  /// Where things go without a device scope: the first of ids().
  const DeviceId& default_device() const { return ids_.front(); }
  const std::vector<std::unique_ptr<Backend>>& backends() const { return backends_; }
  /// Why there is no GPU to use: "no NVIDIA driver is loaded (libcuda.so.1)"; empty when there is one.
  const std::string& gpu_absence() const { return gpu_absence_; }
  /// The GPUs that are there and cannot be used, each with the reason: "GPU 1: ...".
  const std::vector<std::string>& unusable_gpus() const { return unusable_gpus_; }

 private:
  std::vector<std::unique_ptr<Backend>> backends_;
  std::vector<DeviceId> ids_;
  std::string gpu_absence_;
  std::vector<std::string> unusable_gpus_;
};

}  // namespace gpubench
