#include "core/telemetry/nvml/nvml.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <fmt/format.h>

#include "core/base/error.h"

namespace gpubench {
namespace {

constexpr std::array<std::string_view, 2> library_names = {"libnvidia-ml.so.1", "libnvidia-ml.so"};

void bind_needed(NvmlFunctions& table, const SharedLibrary& library) {
  library.bind(table.init, "nvmlInit_v2");
  library.bind(table.shutdown, "nvmlShutdown");
  library.bind(table.error_string, "nvmlErrorString");
  library.bind(table.driver_version, "nvmlSystemGetDriverVersion");
  library.bind(table.handle_by_bus_id, "nvmlDeviceGetHandleByPciBusId_v2");
  library.bind(table.name, "nvmlDeviceGetName");
}

void bind_readings(NvmlFunctions& table, const SharedLibrary& library) {
  library.bind_if_there(table.cuda_version, "nvmlSystemGetCudaDriverVersion_v2");
  library.bind_if_there(table.device_count, "nvmlDeviceGetCount_v2");
  library.bind_if_there(table.uuid, "nvmlDeviceGetUUID");
  library.bind_if_there(table.memory, "nvmlDeviceGetMemoryInfo");
  library.bind_if_there(table.clock, "nvmlDeviceGetClockInfo");
  library.bind_if_there(table.max_clock, "nvmlDeviceGetMaxClockInfo");
  library.bind_if_there(table.memory_bus_width, "nvmlDeviceGetMemoryBusWidth");
  library.bind_if_there(table.temperature, "nvmlDeviceGetTemperature");
  library.bind_if_there(table.power, "nvmlDeviceGetPowerUsage");
  library.bind_if_there(table.field_values, "nvmlDeviceGetFieldValues");
  library.bind_if_there(table.power_limit, "nvmlDeviceGetEnforcedPowerLimit");
  library.bind_if_there(table.default_power_limit, "nvmlDeviceGetPowerManagementDefaultLimit");
  library.bind_if_there(table.persistence_mode, "nvmlDeviceGetPersistenceMode");
  library.bind_if_there(table.energy, "nvmlDeviceGetTotalEnergyConsumption");
  // The newer name of the same readings first.
  library.bind_if_there(table.throttle_reasons, "nvmlDeviceGetCurrentClocksEventReasons");
  if (table.throttle_reasons == nullptr) {
    library.bind_if_there(table.throttle_reasons, "nvmlDeviceGetCurrentClocksThrottleReasons");
  }
  library.bind_if_there(table.utilization, "nvmlDeviceGetUtilizationRates");
  library.bind_if_there(table.pcie_generation, "nvmlDeviceGetCurrPcieLinkGeneration");
  library.bind_if_there(table.max_pcie_generation, "nvmlDeviceGetMaxPcieLinkGeneration");
  library.bind_if_there(table.pcie_width, "nvmlDeviceGetCurrPcieLinkWidth");
  library.bind_if_there(table.max_pcie_width, "nvmlDeviceGetMaxPcieLinkWidth");
  library.bind_if_there(table.ecc_mode, "nvmlDeviceGetEccMode");
  library.bind_if_there(table.ecc_errors, "nvmlDeviceGetTotalEccErrors");
  library.bind_if_there(table.mig_mode, "nvmlDeviceGetMigMode");
  // Without its suffix the name refers to another layout of the entries.
  library.bind_if_there(table.compute_processes, "nvmlDeviceGetComputeRunningProcesses_v3");
}

void bind_gpm(NvmlFunctions& table, const SharedLibrary& library) {
  library.bind_if_there(table.gpm_support, "nvmlGpmQueryDeviceSupport");
  library.bind_if_there(table.gpm_allocate, "nvmlGpmSampleAlloc");
  library.bind_if_there(table.gpm_free, "nvmlGpmSampleFree");
  library.bind_if_there(table.gpm_sample, "nvmlGpmSampleGet");
  library.bind_if_there(table.gpm_metrics, "nvmlGpmMetricsGet");
}

}  // namespace

Nvml::Nvml() : library_(std::in_place, library_names, std::span<const std::filesystem::path>{}) {
  bind_needed(functions_, *library_);
  bind_readings(functions_, *library_);
  bind_gpm(functions_, *library_);
  check(functions_.init(), "nvmlInit");
}

Nvml::Nvml(const NvmlFunctions& functions) : functions_(functions) {
  check(functions_.init(), "nvmlInit");
}

Nvml::~Nvml() {
  functions_.shutdown();
}

void Nvml::check(NvmlReturn result, std::string_view call) const {
  if (result != nvml_success) throw DeviceError("NVML", call, functions_.error_string(result));
}

std::string Nvml::driver_version() const {
  std::array<char, 96> text{};
  check(functions_.driver_version(text.data(), text.size()), "nvmlSystemGetDriverVersion");
  return text.data();
}

std::optional<int> Nvml::cuda_version() const {
  int version = 0;
  const bool told = functions_.cuda_version != nullptr && functions_.cuda_version(&version) == nvml_success;
  return told ? std::optional(version) : std::nullopt;
}

std::optional<unsigned> Nvml::device_count() const {
  unsigned count = 0;
  const bool told = functions_.device_count != nullptr && functions_.device_count(&count) == nvml_success;
  return told ? std::optional(count) : std::nullopt;
}

NvmlDevice Nvml::find(std::string_view bus_id) const {
  const std::string wanted = normal_bus_id(bus_id);
  NvmlDevice device = nullptr;
  const NvmlReturn result = functions_.handle_by_bus_id(wanted.c_str(), &device);
  if (result == nvml_success) return device;
  throw Error(fmt::format("NVML: the driver shows no GPU at {}: {}", wanted, functions_.error_string(result)));
}

NvmlAccess open_nvml() {
  try {
    return {std::make_shared<const Nvml>(), {}};
  } catch (const Error& error) {
    return {nullptr, error.what()};
  }
}

std::string normal_bus_id(std::string_view bus_id) {
  constexpr std::size_t domain_digits = 8;
  const std::size_t colons = static_cast<std::size_t>(std::ranges::count(bus_id, ':'));
  std::string result(colons == 1 ? "0:" : "");
  result += bus_id;
  const std::size_t digits = result.find(':');
  if (digits < domain_digits) result.insert(0, domain_digits - digits, '0');
  std::ranges::transform(result, result.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return result;
}

}  // namespace gpubench
