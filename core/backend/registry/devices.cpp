#include "core/backend/registry/devices.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/backend/cpu/cpu_backend.h"
#include "core/backend/cpu/processor.h"
#include "core/backend/cuda/cuda_backend.h"
#include "core/backend/registry/physical_gpu.h"
#include "core/base/error.h"

namespace gpubench {
namespace {

/// Spreads the threads that are not asked for by name evenly; every device has at least one.
std::vector<CpuDeviceOptions> cpu_options(const DeviceConfig& config) {
  int left = config.threads > 0 ? config.threads : usable_cores();
  int unset = 0;
  for (const CpuDeviceConfig& cpu : config.cpus) {
    left -= cpu.threads;
    unset += cpu.threads == 0 ? 1 : 0;
  }
  std::vector<CpuDeviceOptions> options;
  for (const CpuDeviceConfig& cpu : config.cpus) {
    int threads = cpu.threads;
    if (threads == 0) {
      threads = std::max(1, left / unset);
      left -= threads;
      --unset;
    }
    options.push_back({.memory = cpu.memory, .threads = threads});
  }
  place_on_memory_nodes(options);
  return options;
}

}  // namespace

std::vector<GpuDeviceOptions> visible_gpus() {
  return CudaBackend::visible();
}

std::optional<int> physical_gpu(const Device& device) {
  return CudaBackend::physical(device);
}

Devices::Devices(const DeviceConfig& config) {
  std::optional<std::vector<GpuDeviceOptions>> gpus = config.gpus;
  if (!gpus && (config.tf32 || config.matmul_search > 0)) gpus = visible_gpus();
  if (gpus) {
    for (GpuDeviceOptions& gpu : *gpus) {
      gpu.tf32 = config.tf32;
      gpu.matmul_search = config.matmul_search;
    }
  }
  auto cuda = std::make_unique<CudaBackend>(gpus);
  gpu_absence_ = cuda->absence();
  unusable_gpus_ = cuda->unusable();
  backends_.push_back(std::move(cuda));
  backends_.push_back(std::make_unique<CpuBackend>(cpu_options(config)));
  for (const auto& backend : backends_) {
    for (const auto& device : backend->devices()) ids_.push_back(device->id());
  }
}

std::vector<DeviceId> Devices::ids() const {
  return ids_;
}

Device& Devices::device(const DeviceId& id) const {
  for (const auto& backend : backends_) {
    for (const auto& device : backend->devices()) {
      if (device->id() == id) return *device;
    }
  }
  std::vector<std::string> known;
  for (const DeviceId& there : ids_) known.push_back(to_string(there));
  const bool no_gpu = id.kind == DeviceId::Kind::gpu && !gpu_absence_.empty();
  throw Error(fmt::format("there is no device {}; there is {}{}", to_string(id), fmt::join(known, ", "),
                          no_gpu ? ": " + gpu_absence_ : std::string()));
}

MemoryPool& Devices::host_side(const DeviceId& id) const {
  const DeviceId host{};
  if (MemoryPool* const pinned = device(id).host_memory()) return *pinned;
  if (id != host) return device(host).memory();
  throw Error(fmt::format("{} is the host itself; it has no other memory to put tensors in", to_string(id)));
}

const Backend& Devices::backend(const DeviceId& id) const {
  for (const auto& backend : backends_) {
    for (const auto& device : backend->devices()) {
      if (device->id() == id) return *backend;
    }
  }
  device(id);  // throws
  return *backends_.front();
}

}  // namespace gpubench
