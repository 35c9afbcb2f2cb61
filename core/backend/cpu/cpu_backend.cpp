#include "core/backend/cpu/cpu_backend.h"

#include "core/backend/cpu/elementwise_chain.h"
#include "core/backend/cpu/kernels.h"
#include "core/backend/cpu/matmul.h"
#include "core/backend/cpu/onednn.h"
#include "core/backend/cpu/widened.h"
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

bool CpuBackend::fuses(const Op& op, const Signature& signature, Device&) const {
  return cpu::fuses_accumulation(op, signature);
}

std::unique_ptr<Kernel> CpuBackend::plan(const Op& op, const Signature& signature, Device& device) const {
  const Planner planner = find_planner(cpu::kernels(), name(), op);
  if (cpu::has_16_bits(signature) && !cpu::takes_16_bits(op)) {
    if (auto chain = cpu::plan_as_chain(op, signature, device)) return chain;
    return cpu::plan_widened(op, signature, device, planner, &cpu::has_16_bits);
  }
  return planner(op, signature, device);
}

}  // namespace gpubench
