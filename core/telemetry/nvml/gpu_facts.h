// Facts about a GPU that people check before they measure, as text.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "core/telemetry/nvml/neighbours.h"

namespace gpubench {

/// Label and text, in display order.
using GpuFacts = std::vector<std::pair<std::string, std::string>>;

/// name, uuid, driver, memory, peaks, clocks, temperature, power, link, ecc, mig, throttled and processes; facts that
/// the device does not report are absent.
GpuFacts gpu_facts(const GpuSensors& sensors, std::span<const Neighbour> neighbours);
/// The same for the GPU at `bus_id`; if NVML cannot be used, the only fact is "telemetry" with the reason.
GpuFacts gpu_facts(const NvmlAccess& access, std::string_view bus_id);

}  // namespace gpubench
