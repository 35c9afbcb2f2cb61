#include "tests/core/telemetry/nvml/fake_nvml.h"

#include <cassert>
#include <cstdio>
#include <cstring>
#include <span>

namespace gpubench::support {
namespace {

FakeNvml* fake_nvml = nullptr;
int handle = 0;

NvmlDevice the_gpu() {
  return reinterpret_cast<NvmlDevice>(&handle);
}

template <class Out, class Value>
NvmlReturn answer(const char* reading, Out* out, Value value) {
  if (fake_nvml->unsupported.contains(reading)) return nvml_not_supported;
  *out = static_cast<Out>(value);
  return nvml_success;
}

NvmlReturn text(const char* reading, char* out, unsigned size, const char* value) {
  if (fake_nvml->unsupported.contains(reading)) return nvml_not_supported;
  std::snprintf(out, size, "%s", value);
  return nvml_success;
}

NvmlReturn processes(NvmlDevice, unsigned* count, NvmlProcess* entries) {
  if (fake_nvml->unsupported.contains("compute_processes")) return nvml_not_supported;
  const auto room = *count;
  *count = static_cast<unsigned>(fake_nvml->processes.size());
  if (room < fake_nvml->processes.size()) return nvml_insufficient_size;
  std::copy(fake_nvml->processes.begin(), fake_nvml->processes.end(), entries);
  return nvml_success;
}

void set_gpm(NvmlFunctions& table) {
  table.gpm_support = [](NvmlDevice, NvmlGpmSupport* support) {
    assert(support->version == nvml_gpm_version);
    return answer("gpm_support", &support->is_supported, 1);
  };
  table.gpm_allocate = [](NvmlGpmSample* sample) {
    if (fake_nvml->unsupported.contains("gpm_allocate")) return nvml_not_supported;
    *sample = reinterpret_cast<NvmlGpmSample>(new int(fake_nvml->gpm_samples_held++));
    return nvml_success;
  };
  table.gpm_free = [](NvmlGpmSample sample) {
    delete reinterpret_cast<int*>(sample);
    --fake_nvml->gpm_samples_held;
    return nvml_success;
  };
  table.gpm_sample = [](NvmlDevice, NvmlGpmSample sample) {
    return answer("gpm_sample", reinterpret_cast<int*>(sample), fake_nvml->gpm_samples_taken++);
  };
  table.gpm_metrics = [](NvmlGpmMetrics* metrics) {
    if (fake_nvml->unsupported.contains("gpm_metrics")) return nvml_not_supported;
    assert(metrics->count == 3 && metrics->first != metrics->second);
    for (unsigned i = 0; i < metrics->count; ++i) {
      NvmlGpmMetric& metric = metrics->metrics[i];
      const bool known = !fake_nvml->unsupported.contains("gpm " + std::to_string(metric.id));
      metric.result = known ? nvml_success : nvml_not_supported;
      metric.value = fake_nvml->gpm_percent[metric.id == nvml_gpm_sm ? 0 : metric.id == nvml_gpm_tensor ? 1 : 2];
    }
    return nvml_success;
  };
}

void set_readings(NvmlFunctions& table) {
  table.memory = [](NvmlDevice, NvmlMemory* out) {
    constexpr unsigned long long total = 150ULL << 30;
    return answer("memory", out, NvmlMemory{total, total - fake_nvml->memory_used, fake_nvml->memory_used});
  };
  table.clock = [](NvmlDevice, unsigned type, unsigned* out) {
    return answer("clock", out, type == nvml_sm_clock ? fake_nvml->sm_clock_mhz : fake_nvml->memory_clock_mhz);
  };
  table.max_clock = [](NvmlDevice, unsigned type, unsigned* out) {
    return answer("max_clock", out,
                  type == nvml_sm_clock ? fake_nvml->max_sm_clock_mhz : fake_nvml->max_memory_clock_mhz);
  };
  table.memory_bus_width = [](NvmlDevice, unsigned* out) { return answer("memory_bus_width", out, 6144); };
  table.temperature = [](NvmlDevice, unsigned, unsigned* out) {
    return answer("temperature", out, fake_nvml->temperature_c);
  };
  table.power = [](NvmlDevice, unsigned* out) { return answer("power", out, fake_nvml->power_mw); };
  table.field_values = [](NvmlDevice, int count, NvmlFieldValue* out) {
    for (NvmlFieldValue& one : std::span(out, static_cast<std::size_t>(count))) {
      const bool known = one.field == nvml_power_instant && fake_nvml->power_instant_mw != 0;
      one.result = known ? nvml_success : nvml_not_supported;
      one.value.as_unsigned = fake_nvml->power_instant_mw;
    }
    return nvml_success;
  };
  table.power_limit = [](NvmlDevice, unsigned* out) { return answer("power_limit", out, fake_nvml->power_limit_mw); };
  table.default_power_limit = [](NvmlDevice, unsigned* out) {
    return answer("default_power_limit", out, fake_nvml->default_power_limit_mw);
  };
  table.persistence_mode = [](NvmlDevice, unsigned* out) {
    return answer("persistence_mode", out, fake_nvml->persistence);
  };
  table.energy = [](NvmlDevice, unsigned long long* out) { return answer("energy", out, fake_nvml->energy_mj); };
  table.throttle_reasons = [](NvmlDevice, unsigned long long* out) {
    return answer("throttle_reasons", out, fake_nvml->throttle_reasons);
  };
  table.utilization = [](NvmlDevice, NvmlUtilization* out) {
    return answer("utilization", out, NvmlUtilization{fake_nvml->utilization_percent, 20});
  };
}

void set_link_and_modes(NvmlFunctions& table) {
  table.pcie_generation = [](NvmlDevice, unsigned* out) {
    return answer("pcie_generation", out, fake_nvml->pcie_generation);
  };
  table.max_pcie_generation = [](NvmlDevice, unsigned* out) {
    return answer("max_pcie_generation", out, fake_nvml->max_pcie_generation);
  };
  table.pcie_width = [](NvmlDevice, unsigned* out) { return answer("pcie_width", out, fake_nvml->pcie_width); };
  table.max_pcie_width = [](NvmlDevice, unsigned* out) {
    return answer("max_pcie_width", out, fake_nvml->max_pcie_width);
  };
  table.ecc_mode = [](NvmlDevice, unsigned* current, unsigned* pending) {
    *pending = 0;
    return answer("ecc_mode", current, fake_nvml->ecc);
  };
  table.ecc_errors = [](NvmlDevice, unsigned type, unsigned counter, unsigned long long* out) {
    assert(type == nvml_uncorrected_error && counter == nvml_since_driver_load);
    return answer("ecc_errors", out, fake_nvml->ecc_errors);
  };
  table.mig_mode = [](NvmlDevice, unsigned* current, unsigned* pending) {
    *pending = 0;
    return answer("mig_mode", current, fake_nvml->mig);
  };
  table.compute_processes = &processes;
}

}  // namespace

FakeNvml::FakeNvml() {
  assert(fake_nvml == nullptr);
  fake_nvml = this;
}
FakeNvml::~FakeNvml() {
  fake_nvml = nullptr;
}

NvmlFunctions FakeNvml::functions() {
  NvmlFunctions table{};
  table.init = [] {
    if (fake_nvml->init_result == nvml_success) ++fake_nvml->opened;
    return fake_nvml->init_result;
  };
  table.shutdown = [] {
    --fake_nvml->opened;
    return nvml_success;
  };
  table.error_string = [](NvmlReturn result) {
    if (result == nvml_not_found) return "Not Found";
    return result == nvml_not_supported ? "Not Supported" : "Driver Not Loaded";
  };
  table.driver_version = [](char* out, unsigned size) { return text("driver_version", out, size, "580.65.06"); };
  table.handle_by_bus_id = [](const char* bus_id, NvmlDevice* device) {
    if (bus_id != fake_nvml->bus_id) return nvml_not_found;
    *device = the_gpu();
    return nvml_success;
  };
  table.name = [](NvmlDevice device, char* out, unsigned size) {
    assert(device == the_gpu());
    return text("name", out, size, "NVIDIA H200");
  };
  table.uuid = [](NvmlDevice, char* out, unsigned size) { return text("uuid", out, size, "GPU-1b"); };
  table.cuda_version = [](int* out) { return answer("cuda_version", out, fake_nvml->cuda_version); };
  table.device_count = [](unsigned* out) { return answer("device_count", out, fake_nvml->device_count); };
  set_readings(table);
  set_link_and_modes(table);
  set_gpm(table);
  return table;
}

}  // namespace gpubench::support
