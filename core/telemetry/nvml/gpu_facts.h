// What people want to know of a GPU before they measure on it, in words.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "core/telemetry/nvml/neighbours.h"

namespace gpubench {

/// Label and text, in the order in which they are shown.
using GpuFacts = std::vector<std::pair<std::string, std::string>>;

/// name, driver, memory, peaks, clocks, temperature, power, link, ecc, mig, throttled and processes; what the device
/// does not tell is absent.
GpuFacts gpu_facts(const GpuSensors& sensors, std::span<const Neighbour> neighbours);
/// The same of the GPU at `bus_id`; when NVML cannot be used, the one fact "telemetry" says why.
GpuFacts gpu_facts(const NvmlAccess& access, std::string_view bus_id);

}  // namespace gpubench
