// NVIDIA's management library, opened at run time because it belongs to the driver. gpubench only reads: nothing here
// sets a clock, a limit or a mode. The needed part is declared here because the toolkit's packages may lack nvml.h.
// Source: NVIDIA, "NVML API Reference Guide", docs.nvidia.com/deploy/nvml-api; nvml.cpp lists its names beside ours.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/shared_library.h"

namespace gpubench {

/// nvmlReturn_t.
using NvmlReturn = int;
constexpr NvmlReturn nvml_success = 0;
constexpr NvmlReturn nvml_not_supported = 3;
constexpr NvmlReturn nvml_not_found = 6;
constexpr NvmlReturn nvml_insufficient_size = 7;

/// nvmlDevice_t and nvmlGpmSample_t: opaque.
using NvmlDevice = struct NvmlDeviceTag*;
using NvmlGpmSample = struct NvmlGpmSampleTag*;

/// nvmlClockType_t; nvmlTemperatureSensors_t; nvmlMemoryErrorType_t; nvmlEccCounterType_t.
constexpr unsigned nvml_sm_clock = 1;
constexpr unsigned nvml_memory_clock = 2;
constexpr unsigned nvml_gpu_temperature = 0;
constexpr unsigned nvml_uncorrected_error = 1;
constexpr unsigned nvml_since_driver_load = 0;

/// nvmlMemory_t, in bytes.
struct NvmlMemory {
  unsigned long long total, free, used;
};
/// nvmlUtilization_t: percentage of the time in which at least one kernel ran, or memory was read or written.
struct NvmlUtilization {
  unsigned gpu, memory;
};
/// NVML_FI_DEV_POWER_INSTANT: current power as unsigned mW. nvmlDeviceGetPowerUsage gives the mean of the last second
/// (on GPUs since Ampere, except GA100).
constexpr unsigned nvml_power_instant = 186;
/// nvmlFieldValue_t.
struct NvmlFieldValue {
  unsigned field = 0, scope = 0;
  long long timestamp = 0, latency = 0;
  unsigned value_type = 0;
  NvmlReturn result = nvml_not_supported;
  union {
    double as_double;
    unsigned as_unsigned;
    unsigned long long as_long;
  } value = {};
};
static_assert(sizeof(NvmlFieldValue) == 40);
/// nvmlProcessInfo_v2_t.
struct NvmlProcess {
  unsigned pid;
  unsigned long long used_memory;  ///< bytes; all bits set if unknown
  unsigned gpu_instance, compute_instance;
};

/// nvmlGpmMetricId_t: percentage of the interval in which multiprocessors, their tensor cores and the memory's
/// bandwidth were in use.
constexpr unsigned nvml_gpm_sm = 2;
constexpr unsigned nvml_gpm_tensor = 5;
constexpr unsigned nvml_gpm_dram = 10;
constexpr unsigned nvml_gpm_version = 1;

/// nvmlGpmSupport_t.
struct NvmlGpmSupport {
  unsigned version, is_supported;
};
/// nvmlGpmMetric_t.
struct NvmlGpmMetric {
  unsigned id;
  NvmlReturn result;
  double value;
  const char *short_name, *long_name, *unit;
};
/// nvmlGpmMetricsGet_t. Its array grew with driver versions; only the first `count` entries are used.
struct NvmlGpmMetrics {
  unsigned version, count;
  NvmlGpmSample first, second;
  std::array<NvmlGpmMetric, 333> metrics;
};

/// A function is null if an older driver lacks it. Clocks are in MHz, power in mW, energy in mJ, temperature in °C.
struct NvmlFunctions {
  NvmlReturn (*init)();
  NvmlReturn (*shutdown)();
  const char* (*error_string)(NvmlReturn);
  NvmlReturn (*driver_version)(char*, unsigned);
  NvmlReturn (*handle_by_bus_id)(const char*, NvmlDevice*);
  NvmlReturn (*name)(NvmlDevice, char*, unsigned);

  NvmlReturn (*cuda_version)(int*);
  NvmlReturn (*device_count)(unsigned*);
  NvmlReturn (*uuid)(NvmlDevice, char*, unsigned);
  NvmlReturn (*memory)(NvmlDevice, NvmlMemory*);
  NvmlReturn (*clock)(NvmlDevice, unsigned, unsigned*);
  NvmlReturn (*max_clock)(NvmlDevice, unsigned, unsigned*);
  NvmlReturn (*memory_bus_width)(NvmlDevice, unsigned*);
  NvmlReturn (*temperature)(NvmlDevice, unsigned, unsigned*);
  NvmlReturn (*power)(NvmlDevice, unsigned*);
  NvmlReturn (*field_values)(NvmlDevice, int, NvmlFieldValue*);
  NvmlReturn (*power_limit)(NvmlDevice, unsigned*);
  NvmlReturn (*default_power_limit)(NvmlDevice, unsigned*);
  NvmlReturn (*persistence_mode)(NvmlDevice, unsigned*);
  NvmlReturn (*energy)(NvmlDevice, unsigned long long*);
  NvmlReturn (*throttle_reasons)(NvmlDevice, unsigned long long*);
  NvmlReturn (*utilization)(NvmlDevice, NvmlUtilization*);
  NvmlReturn (*pcie_generation)(NvmlDevice, unsigned*);
  NvmlReturn (*max_pcie_generation)(NvmlDevice, unsigned*);
  NvmlReturn (*pcie_width)(NvmlDevice, unsigned*);
  NvmlReturn (*max_pcie_width)(NvmlDevice, unsigned*);
  NvmlReturn (*ecc_mode)(NvmlDevice, unsigned*, unsigned*);
  NvmlReturn (*ecc_errors)(NvmlDevice, unsigned, unsigned, unsigned long long*);
  NvmlReturn (*mig_mode)(NvmlDevice, unsigned*, unsigned*);
  NvmlReturn (*compute_processes)(NvmlDevice, unsigned*, NvmlProcess*);

  NvmlReturn (*gpm_support)(NvmlDevice, NvmlGpmSupport*);
  NvmlReturn (*gpm_allocate)(NvmlGpmSample*);
  NvmlReturn (*gpm_free)(NvmlGpmSample);
  NvmlReturn (*gpm_sample)(NvmlDevice, NvmlGpmSample);
  NvmlReturn (*gpm_metrics)(NvmlGpmMetrics*);
};

class Nvml {
 public:
  /// Opens the driver's library. Throws Error if there is none, DeviceError if the driver does not respond.
  Nvml();
  /// Uses the functions of a test.
  explicit Nvml(const NvmlFunctions& functions);
  ~Nvml();
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  const NvmlFunctions& functions() const { return functions_; }
  std::string driver_version() const;
  /// The newest CUDA that the driver runs: 13000 is 13.0; nullopt if the driver does not report it.
  std::optional<int> cuda_version() const;
  /// All GPUs of the machine, whatever CUDA_VISIBLE_DEVICES says.
  std::optional<unsigned> device_count() const;
  /// Accepts all spellings of the bus id. Throws Error naming it if the driver has no such GPU.
  NvmlDevice find(std::string_view bus_id) const;

 private:
  void check(NvmlReturn result, std::string_view call) const;

  std::optional<SharedLibrary> library_;
  NvmlFunctions functions_{};
};

/// The opened library, or the reason why there is none.
struct NvmlAccess {
  std::shared_ptr<const Nvml> nvml;
  std::string reason;  ///< empty if it was opened
};
NvmlAccess open_nvml();

/// In NVML's spelling, "00000000:1B:00.0": CUDA shortens the domain and may use lower case.
std::string normal_bus_id(std::string_view bus_id);

}  // namespace gpubench
