#include "core/telemetry/nvml/gpu_facts.h"

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/units.h"
#include "core/telemetry/nvml/gpu_sensors.h"
#include "core/telemetry/peaks.h"

namespace gpubench {
namespace {

constexpr const char* bandwidth_name = "memory_bytes_per_s";

std::string flops_name(Arithmetic arithmetic) {
  return std::string(to_string(arithmetic)) + "_flops_per_s";
}

std::string mhz(const std::optional<double>& hz) {
  constexpr double hz_in_mhz = 1e6;
  return hz ? fmt::format("{:.0f}", *hz / hz_in_mhz) : "?";
}

std::string clocks(const GpuSensors& sensors) {
  const auto sm = sensors.sm_clock_hz(), memory = sensors.memory_clock_hz();
  if (!sm && !memory) return {};
  return fmt::format("multiprocessors {} of {} MHz, memory {} of {} MHz", mhz(sm), mhz(sensors.max_sm_clock_hz()),
                     mhz(memory), mhz(sensors.max_memory_clock_hz()));
}

std::string memory(const GpuSensors& sensors, const std::optional<DeviceSlice>& slice) {
  if (slice) return format_bytes(static_cast<double>(slice->memory_bytes));
  const auto bytes = sensors.memory();
  if (!bytes) return {};
  return fmt::format("{}, {} free", format_bytes(static_cast<double>(bytes->total)),
                     format_bytes(static_cast<double>(bytes->free)));
}

// Theoretical peaks, for comparison with measured values.
std::string peaks(const GpuSensors& sensors, const std::optional<DeviceSlice>& slice) {
  const std::map<std::string, double> rates = gpu_peaks(sensors, slice);
  std::string text;
  const auto add = [&](const std::string& one) { text += (text.empty() ? "" : ", ") + one; };
  for (const Arithmetic arithmetic : all_arithmetic) {
    if (const auto rate = rates.find(flops_name(arithmetic)); rate != rates.end()) {
      add(fmt::format("{} {}{}", to_string(arithmetic), format_si(rate->second),
                      arithmetic == Arithmetic::int8 ? "OP/s" : "FLOP/s"));
    }
  }
  if (const auto rate = rates.find(bandwidth_name); rate != rates.end())
    add("memory " + format_si(rate->second) + "B/s");
  return text;
}

std::string power(const GpuSensors& sensors) {
  const auto now = sensors.power_w(), limit = sensors.power_limit_w();
  if (!now) return {};
  return limit ? fmt::format("{:.0f} of {:.0f} W", *now, *limit) : fmt::format("{:.0f} W", *now);
}

std::string temperature(const GpuSensors& sensors) {
  const auto now = sensors.temperature_c();
  return now ? fmt::format("{:.0f} °C", *now) : "";
}

// An idle GPU lowers its link's generation; the most that card and slot can do says what to expect.
std::string link(const GpuSensors& sensors) {
  const auto now = sensors.link(), most = sensors.max_link();
  if (!now) return {};
  std::string text = fmt::format("PCIe generation {}, {} lanes", now->generation, now->lanes);
  if (most && most != now) text += fmt::format(" (at most generation {}, {} lanes)", most->generation, most->lanes);
  return text;
}

std::string ecc(const GpuSensors& sensors) {
  const auto on = sensors.ecc();
  if (!on) return {};
  if (!*on) return "off";
  const auto errors = sensors.uncorrected_errors();
  return errors ? "on, " + format_count(static_cast<std::int64_t>(*errors), "uncorrected error") : "on";
}

std::string mig(const GpuSensors& sensors, const std::optional<DeviceSlice>& slice) {
  if (slice) return fmt::format("slice {}, {}", slice->profile, multiprocessors_text(sensors.name(), *slice));
  const auto on = sensors.mig();
  if (!on) return {};
  return *on ? "on: the GPU is split into instances" : "off";
}

}  // namespace

std::map<std::string, double> gpu_peaks(const GpuSensors& sensors, const std::optional<DeviceSlice>& slice) {
  std::map<std::string, double> peaks;
  const auto bandwidth = slice ? std::nullopt : sensors.peak_bandwidth();
  if (bandwidth) peaks[bandwidth_name] = *bandwidth;
  const std::string product = sensors.name();
  const auto share = slice ? share_of_multiprocessors(product, *slice) : std::optional(1.0);
  for (const Arithmetic arithmetic : all_arithmetic) {
    const auto peak = dense_peak(product, arithmetic);
    if (peak && share) peaks[flops_name(arithmetic)] = *peak * *share;
  }
  return peaks;
}

GpuFacts gpu_facts(const GpuSensors& sensors, const std::optional<DeviceSlice>& slice) {
  GpuFacts facts;
  const auto add = [&](const char* label, std::string text) {
    if (!text.empty()) facts.emplace_back(label, std::move(text));
  };
  add("name", sensors.name());
  add("uuid", sensors.uuid());
  add("driver", sensors.nvml()->driver_version());
  add("memory", memory(sensors, slice));
  add("peaks", peaks(sensors, slice));
  add("clocks", clocks(sensors));
  add("temperature", temperature(sensors));
  add("power", power(sensors));
  add("link", link(sensors));
  add("ecc", ecc(sensors));
  add("mig", mig(sensors, slice));
  return facts;
}

GpuFacts gpu_facts(const NvmlAccess& access, std::string_view bus_id, const std::optional<DeviceSlice>& slice) {
  if (!access.nvml) return {{"telemetry", "none: " + access.reason}};
  try {
    return gpu_facts(GpuSensors(access.nvml, bus_id), slice);
  } catch (const Error& error) {
    return {{"telemetry", std::string("none: ") + error.what()}};
  }
}

}  // namespace gpubench
