// Facts about a GPU that readers of results need, as text. What is wrong with it, core/doctor says.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/device/device_slice.h"
#include "core/telemetry/nvml/gpu_sensors.h"

namespace gpubench {

/// Label and text, in display order.
using GpuFacts = std::vector<std::pair<std::string, std::string>>;

/// name, uuid, driver, memory, peaks, clocks, temperature, power, link, ecc and mig; facts that the device does not
/// report are absent. Of a slice, memory and peaks are its own.
GpuFacts gpu_facts(const GpuSensors& sensors, const std::optional<DeviceSlice>& slice);
/// The same for the GPU at `bus_id`; if NVML cannot be used, the only fact is "telemetry" with the reason.
GpuFacts gpu_facts(const NvmlAccess& access, std::string_view bus_id, const std::optional<DeviceSlice>& slice);

/// Rates by the data sheet, such as "float32_flops_per_s" and "memory_bytes_per_s"; only those that are known. A slice
/// has the share of its multiprocessors, and no known bandwidth: the driver does not report how memory is split.
std::map<std::string, double> gpu_peaks(const GpuSensors& sensors, const std::optional<DeviceSlice>& slice);

}  // namespace gpubench
