// What others have of a GPU: its time, or its memory.
#include <algorithm>
#include <fmt/format.h>
#include <unistd.h>

#include "core/base/units.h"
#include "core/doctor/checks.h"
#include "core/telemetry/nvml/neighbours.h"

namespace gpubench {
namespace {

/// The driver keeps up to about 1 GiB for itself, more on large GPUs.
constexpr double hidden_share = 0.05;
constexpr double hidden_bytes = 2.0 * (1ULL << 30);

double reported_bytes(std::span<const GpuProcess> processes) {
  double sum = 0;
  for (const GpuProcess& process : processes) sum += static_cast<double>(process.memory_bytes.value_or(0));
  return sum;
}

}  // namespace

CheckResult check_gpu_sharing(const Machine& machine, const MachineGpu& gpu) {
  if (gpu.gpu.slice) return unknown("the driver reports processes and memory of the whole GPU, not of the slice");
  const auto processes = gpu.sensors->processes();
  const auto memory = gpu.sensors->memory();
  if (processes) {
    const auto others = neighbours(*processes, static_cast<unsigned>(::getpid()), machine.sources().root / "proc");
    if (!others.empty()) {
      return costs_speed(fmt::format("used by {}", to_string(others)),
                         "kernels take turns with those of others, and their memory is not free",
                         "end them, or choose another GPU with CUDA_VISIBLE_DEVICES");
    }
  }
  if (memory) {
    const double total = static_cast<double>(memory->total), used = static_cast<double>(memory->used);
    const double hidden = used - (processes ? reported_bytes(*processes) : 0);
    if (processes && hidden > std::max(hidden_share * total, hidden_bytes)) {
      return costs_speed(fmt::format("{} of {} are taken by processes that this one cannot see", format_bytes(hidden),
                                     format_bytes(total)),
                         "less memory is free for models and batches",
                         "look from outside of the container or job: nvidia-smi");
    }
  }
  if (!processes) return unknown("the driver does not report which processes use the GPU");
  return ok(memory ? fmt::format("no other process, {} free", format_bytes(static_cast<double>(memory->free)))
                   : "no other process");
}

}  // namespace gpubench
