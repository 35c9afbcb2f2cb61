// gb.config.device_sensors: what a device's sensors say now, and what it is made for, as plain numbers.
#include <map>
#include <optional>
#include <string>
#include <variant>

#include "core/device/device.h"
#include "core/telemetry/nvml/gpu_facts.h"
#include "core/telemetry/proc/environment.h"
#include "lua/api/openers.h"
#include "lua/api/session.h"
#include "lua/api/types.h"
#include "lua/bind/bind.h"

namespace gpubench::lua {
namespace {

using Numbers = std::map<std::string, double>;

/// Where no GPU has a memory of its own, the machine's counts.
Numbers of_machine() {
  Numbers numbers;
  for (const auto& [name, fact] : machine_facts()) {
    if (const auto* bytes = std::get_if<std::int64_t>(&fact); bytes && name == "memory_available_bytes")
      numbers["free_memory_bytes"] = static_cast<double>(*bytes);
  }
  return numbers;
}

template <class T>
void add(Numbers& numbers, const std::string& name, const std::optional<T>& value) {
  if (value) numbers[name] = static_cast<double>(*value);
}

/// Of a slice, without what is known of the whole GPU only.
Numbers of_gpu(const GpuSensors& gpu, const std::optional<DeviceSlice>& slice) {
  Numbers numbers;
  if (const auto memory = gpu.memory(); memory && !slice)
    numbers["free_memory_bytes"] = static_cast<double>(memory->free);
  if (!slice) {
    add(numbers, "power_w", gpu.power_w());
    add(numbers, "power_limit_w", gpu.power_limit_w());
  }
  add(numbers, "temperature_c", gpu.temperature_c());
  add(numbers, "sm_clock_hz", gpu.sm_clock_hz());
  add(numbers, "max_sm_clock_hz", gpu.max_sm_clock_hz());
  add(numbers, "uncorrected_errors", gpu.uncorrected_errors());
  if (const auto reasons = gpu.throttle_reasons()) numbers["throttled"] = harmful(*reasons) != 0 ? 1 : 0;
  for (const auto& [prefix, link] : {std::pair{"link", gpu.link()}, std::pair{"max_link", gpu.max_link()}}) {
    if (!link) continue;
    numbers[std::string(prefix) + "_generation"] = link->generation;
    numbers[std::string(prefix) + "_lanes"] = link->lanes;
  }
  for (const auto& [name, rate] : gpu_peaks(gpu, slice)) numbers["peak_" + name] = rate;
  return numbers;
}

Numbers device_sensors(lua_State* L, const DeviceId& id) {
  const Device& device = world_of(L).devices.device(id);
  const std::string bus_id = device.bus_id();
  if (bus_id.empty()) return of_machine();
  const NvmlAccess access = open_nvml();
  return access.nvml ? of_gpu(GpuSensors(access.nvml, bus_id), device.slice()) : Numbers{};
}

}  // namespace

void open_device_sensors(lua_State* L) {
  const Module gb = Module::root(L);
  gb.submodule("config").function<&device_sensors>("device_sensors");
}

}  // namespace gpubench::lua
