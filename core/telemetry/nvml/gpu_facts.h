// Facts about a GPU that readers of results need, as text. What is wrong with it, core/doctor says.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "core/telemetry/nvml/gpu_sensors.h"

namespace gpubench {

/// Label and text, in display order.
using GpuFacts = std::vector<std::pair<std::string, std::string>>;

/// name, uuid, driver, memory, peaks, clocks, temperature, power, link, ecc and mig; facts that the device does not
/// report are absent.
GpuFacts gpu_facts(const GpuSensors& sensors);
/// The same for the GPU at `bus_id`; if NVML cannot be used, the only fact is "telemetry" with the reason.
GpuFacts gpu_facts(const NvmlAccess& access, std::string_view bus_id);

}  // namespace gpubench
