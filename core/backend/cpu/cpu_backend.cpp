#include "core/backend/cpu/cpu_backend.h"

#include <algorithm>

#include "core/backend/cpu/address_space.h"
#include "core/backend/cpu/cpu_kernels.h"
#include "core/backend/cpu/onednn.h"
#include "core/backend/cpu/processor.h"
#include "core/base/error.h"
#include "core/ops/fused_matmul.h"
#include "core/trace/timeline.h"

namespace gpubench {
namespace {

std::vector<CpuDeviceOptions> device_options(const BackendConfig& config) {
  const std::vector<LogicalDevice> devices = config.devices.value_or(CpuBackend::physical_devices());
  const int threads = config.own<CpuOptions>().threads;
  int left = threads > 0 ? threads : std::min(usable_cores(), team_limit());
  int unset = 0;
  for (const LogicalDevice& device : devices) {
    left -= device.threads;
    unset += device.threads == 0 ? 1 : 0;
  }
  std::vector<CpuDeviceOptions> options;
  for (const LogicalDevice& device : devices) {
    int own = device.threads;
    if (own == 0) {
      own = std::max(1, left / unset);
      left -= own;
      --unset;
    }
    options.push_back({.memory = device.memory, .threads = own});
  }
  place_on_memory_nodes(options);
  return options;
}

}  // namespace

CpuBackend::CpuBackend(const BackendConfig& config) : CpuBackend(device_options(config)) {}

CpuBackend::CpuBackend(std::span<const CpuDeviceOptions> devices) {
  if (devices.empty()) throw Error("cpu: needs at least one logical device");
  cpu::limit_arenas();
  for (const CpuDeviceOptions& options : devices) {
    const DeviceId id{DeviceId::Kind::cpu, static_cast<std::int16_t>(devices_.size()), {}};
    devices_.push_back(std::make_unique<HostDevice>(id, options));
  }
}

std::unique_ptr<Tracer> CpuBackend::new_tracer() const {
  return nullptr;
}

std::string CpuBackend::library() const {
  return cpu::onednn_version();
}

bool CpuBackend::fuses(const Op& op, const Signature& signature, Device&) const {
  // A product is added to its sum in less time than it takes apart. 16 bits are computed in float32: a sum in them
  // would be widened at every product.
  return dynamic_cast<const MatmulAccumulate*>(&op) != nullptr && signature.outputs[0].dtype == Dtype::f32;
}

std::unique_ptr<Kernel> CpuBackend::plan(const Op& op, const Signature& signature, Device& device) const {
  cpu::require_address_space();
  return cpu::plan_kernel(op, signature, device);
}

}  // namespace gpubench
