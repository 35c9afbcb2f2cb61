// Which GPUs are there and not used: from the PCI bus, the driver's files, CUDA_VISIBLE_DEVICES and the backend.
#include <fmt/format.h>

#include "core/base/units.h"
#include "core/doctor/checks.h"
#include "core/nvidia/gpu_fault.h"

namespace gpubench {
namespace {

constexpr const char* on_the_cpu = "training runs on the CPU";

DeviceFault why_no_gpu(const Machine& machine) {
  const MachineSources& sources = machine.sources();
  if (sources.cuda_version == 0 && sources.gpu_absence) return *sources.gpu_absence;
  if (auto fault = driver_fault(sources.root)) return *std::move(fault);
  if (auto hidden = hidden_gpus(machine.variable("CUDA_VISIBLE_DEVICES"))) return *std::move(hidden);
  if (sources.gpu_absence) return *sources.gpu_absence;
  return {"the program uses none", "see the checks driver and libraries, and nvidia-smi"};
}

/// As many as the driver counts, or, without a driver, the PCI bus shows.
int gpus_there(const Machine& machine) {
  const auto counted = machine.nvml().nvml ? machine.nvml().nvml->device_count() : std::nullopt;
  return counted ? static_cast<int>(*counted) : machine.nvidia_cards();
}

}  // namespace

CheckResult check_devices(const Machine& machine) {
  const MachineSources& sources = machine.sources();
  const int there = gpus_there(machine), used = static_cast<int>(sources.gpus.size());
  if (!sources.unusable_gpus.empty()) {
    const DeviceFault fault = fault_of_all(sources.unusable_gpus);
    return wrong(fault.reason, used == 0 ? on_the_cpu : "training uses the other GPUs only", fault.remedy);
  }
  const auto visible = machine.variable("CUDA_VISIBLE_DEVICES");
  if (used == 0 && there == 0) return ok("no GPU in this machine");
  if (used == 0) {
    const DeviceFault fault = why_no_gpu(machine);
    return costs_speed(fmt::format("{} in this machine, none used: {}", format_count(there, "GPU"), fault.reason),
                       on_the_cpu, fault.remedy);
  }
  if (used >= there) return ok(fmt::format("{}", format_count(used, "GPU")));
  return ok(fmt::format("{} of {}{}", used, format_count(there, "GPU"),
                        visible ? fmt::format(" (CUDA_VISIBLE_DEVICES={})", *visible) : std::string()));
}

}  // namespace gpubench
