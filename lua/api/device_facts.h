// What is known of the devices: for run.json, and for the verdict on a row.
#pragma once
#include <map>
#include <string>

#include "core/results/info.h"
#include "core/results/record.h"
#include "core/telemetry/nvml/gpu_sensors.h"
#include "lua/api/session.h"

namespace gpubench::lua {

/// Rates by the data sheet, such as "float32_flops_per_s" and "memory_bytes_per_s"; only those that are known.
std::map<std::string, double> peaks_of(const GpuSensors& gpu);

/// Sets `verdict` in a row that has_steps(), from the row and what is known of the devices now.
void set_verdict(World& world, Record& record);

}  // namespace gpubench::lua
