#include "core/backend/cpu/cpu_backend.h"

#include "core/backend/cpu/kernels.h"
#include "core/backend/cpu/onednn.h"
#include "core/backend/cpu/reorder.h"
#include "core/base/error.h"

namespace gpubench {

CpuBackend::CpuBackend(std::span<const CpuDeviceOptions> devices) {
  if (devices.empty()) throw Error("cpu: needs at least one logical device");
  for (const CpuDeviceOptions& options : devices) {
    const DeviceId id{DeviceId::Kind::cpu, static_cast<std::int16_t>(devices_.size()), {}};
    devices_.push_back(std::make_unique<HostDevice>(id, options));
  }
}

std::string CpuBackend::library() const {
  return cpu::onednn_version();
}

std::unique_ptr<Kernel> CpuBackend::plan(const Op& op, const Signature& signature, Device& device) const {
  return find_planner(cpu::kernels(), name(), op).plan(op, signature, device);
}

bool CpuBackend::takes_layouts(const Op& op) const {
  const auto row = cpu::kernels().find(typeid(op));
  return row != cpu::kernels().end() && row->second.takes_layouts;
}

std::unique_ptr<Kernel> CpuBackend::plan_reorder(const TensorType& type, const LayoutPtr& from, Device& device) const {
  return cpu::plan_reorder(type, from, device);
}

}  // namespace gpubench
