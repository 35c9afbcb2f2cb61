#include "core/telemetry/nvml/gpu_sensors.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "core/telemetry/peaks.h"

namespace gpubench {
namespace {

constexpr double hz_per_mhz = 1e6;
constexpr double per_milli = 1e-3;
constexpr double share_per_cent = 1e-2;
constexpr unsigned long long unknown_memory = ~0ULL;

template <class Value>
std::optional<double> scaled(const std::optional<Value>& value, double unit) {
  return value ? std::optional(static_cast<double>(*value) * unit) : std::nullopt;
}

std::optional<PcieLink> link_of(const std::optional<unsigned>& generation, const std::optional<unsigned>& lanes) {
  return generation && lanes ? std::optional(PcieLink{*generation, *lanes}) : std::nullopt;
}

struct Reason {
  std::uint64_t bit;
  std::string_view words;
  bool harms;
};

// nvmlClocksEventReasons, docs.nvidia.com/deploy/nvml-api/group__nvmlClocksEventReasons.html. The hardware's slowdown
// (0x08) is set beside its cause, heat or brake.
constexpr std::array reasons_list = {
    Reason{power_limit_reason, "power limit", false},
    Reason{0x08, "hardware slowdown", true},
    Reason{0x10, "clocks tied to slower GPUs", false},
    Reason{0x20, "thermal slowdown", true},
    Reason{0x40, "hardware thermal slowdown", true},
    Reason{0x80, "power brake", true},
    Reason{0x100, "display clocks", false},
};

}  // namespace

GpuSensors::GpuSensors(std::shared_ptr<const Nvml> nvml, std::string_view bus_id)
    : nvml_(std::move(nvml)), device_(nvml_->find(bus_id)) {}

std::string GpuSensors::name() const {
  std::array<char, 96> text{};
  return functions().name(device_, text.data(), text.size()) == nvml_success ? text.data() : "";
}

std::string GpuSensors::uuid() const {
  std::array<char, 96> text{};
  const auto ask_uuid = functions().uuid;
  return ask_uuid != nullptr && ask_uuid(device_, text.data(), text.size()) == nvml_success ? text.data() : "";
}

std::optional<NvmlMemory> GpuSensors::memory() const {
  return ask<NvmlMemory>(functions().memory);
}
std::optional<double> GpuSensors::sm_clock_hz() const {
  return scaled(ask<unsigned>(functions().clock, nvml_sm_clock), hz_per_mhz);
}
std::optional<double> GpuSensors::max_sm_clock_hz() const {
  return scaled(ask<unsigned>(functions().max_clock, nvml_sm_clock), hz_per_mhz);
}
std::optional<double> GpuSensors::memory_clock_hz() const {
  return scaled(ask<unsigned>(functions().clock, nvml_memory_clock), hz_per_mhz);
}
std::optional<double> GpuSensors::max_memory_clock_hz() const {
  return scaled(ask<unsigned>(functions().max_clock, nvml_memory_clock), hz_per_mhz);
}
std::optional<double> GpuSensors::peak_bandwidth() const {
  const auto clock = max_memory_clock_hz();
  const auto bits = ask<unsigned>(functions().memory_bus_width);
  return clock && bits ? std::optional(memory_bandwidth(*clock, *bits)) : std::nullopt;
}
std::optional<double> GpuSensors::temperature_c() const {
  return scaled(ask<unsigned>(functions().temperature, nvml_gpu_temperature), 1);
}
std::optional<double> GpuSensors::power_w() const {
  NvmlFieldValue now;
  now.field = nvml_power_instant;
  const bool told = functions().field_values != nullptr && functions().field_values(device_, 1, &now) == nvml_success &&
                    now.result == nvml_success;
  if (told) return now.value.as_unsigned * per_milli;
  return scaled(ask<unsigned>(functions().power), per_milli);
}
std::optional<double> GpuSensors::power_limit_w() const {
  return scaled(ask<unsigned>(functions().power_limit), per_milli);
}
std::optional<double> GpuSensors::default_power_limit_w() const {
  return scaled(ask<unsigned>(functions().default_power_limit), per_milli);
}
std::optional<bool> GpuSensors::persistence() const {
  const auto mode = ask<unsigned>(functions().persistence_mode);
  return mode ? std::optional(*mode != 0) : std::nullopt;
}
std::optional<double> GpuSensors::energy_j() const {
  return scaled(ask<unsigned long long>(functions().energy), per_milli);
}
std::optional<std::uint64_t> GpuSensors::throttle_reasons() const {
  return ask<unsigned long long>(functions().throttle_reasons);
}

std::optional<double> GpuSensors::active_share() const {
  const auto utilization = ask<NvmlUtilization>(functions().utilization);
  return utilization ? std::optional(utilization->gpu * share_per_cent) : std::nullopt;
}

std::optional<PcieLink> GpuSensors::link() const {
  return link_of(ask<unsigned>(functions().pcie_generation), ask<unsigned>(functions().pcie_width));
}
std::optional<PcieLink> GpuSensors::max_link() const {
  return link_of(ask<unsigned>(functions().max_pcie_generation), ask<unsigned>(functions().max_pcie_width));
}

std::optional<bool> GpuSensors::ecc() const {
  unsigned current = 0;
  const auto pending = ask<unsigned>(functions().ecc_mode, &current);
  return pending ? std::optional(current != 0) : std::nullopt;
}

std::optional<std::uint64_t> GpuSensors::uncorrected_errors() const {
  return ask<unsigned long long>(functions().ecc_errors, nvml_uncorrected_error, nvml_since_driver_load);
}

std::optional<bool> GpuSensors::mig() const {
  unsigned current = 0;
  const auto pending = ask<unsigned>(functions().mig_mode, &current);
  return pending ? std::optional(current != 0) : std::nullopt;
}

std::optional<std::vector<GpuProcess>> GpuSensors::processes() const {
  if (functions().compute_processes == nullptr) return std::nullopt;
  constexpr std::size_t most_entries = 4096;
  std::vector<NvmlProcess> entries(32);
  auto count = static_cast<unsigned>(entries.size());
  NvmlReturn result = functions().compute_processes(device_, &count, entries.data());
  while (result == nvml_insufficient_size && entries.size() < most_entries) {  // more may come between two calls
    entries.resize(2 * std::max<std::size_t>(entries.size(), count));
    count = static_cast<unsigned>(entries.size());
    result = functions().compute_processes(device_, &count, entries.data());
  }
  if (result != nvml_success) return std::nullopt;
  std::vector<GpuProcess> processes;
  for (unsigned i = 0; i < count; ++i) {
    GpuProcess process{entries[i].pid, entries[i].used_memory};
    if (entries[i].used_memory == unknown_memory) process.memory_bytes.reset();
    processes.push_back(process);
  }
  return processes;
}

std::string throttle_words(std::uint64_t reasons) {
  std::string text;
  for (const Reason& reason : reasons_list) {
    if ((reasons & reason.bit) == 0) continue;
    if (!text.empty()) text += ", ";
    text += reason.words;
  }
  return text;
}

std::uint64_t harmful(std::uint64_t reasons) {
  std::uint64_t result = 0;
  for (const Reason& reason : reasons_list) {
    if (reason.harms) result |= reasons & reason.bit;
  }
  return result;
}

}  // namespace gpubench
