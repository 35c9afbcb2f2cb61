// A driver of our own with one GPU, whose readings a test writes down and takes away.
#pragma once
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "core/telemetry/nvml/nvml.h"

namespace gpubench::support {

/// One at a time: NVML's functions take no state. An H200 in the middle of its work, unless a test changes it.
class FakeNvml {
 public:
  FakeNvml();
  ~FakeNvml();
  FakeNvml(const FakeNvml&) = delete;
  FakeNvml& operator=(const FakeNvml&) = delete;

  std::shared_ptr<const Nvml> open() const { return std::make_shared<const Nvml>(functions()); }
  static NvmlFunctions functions();

  std::string bus_id = "00000000:1B:00.0";
  /// Fail with NVML_ERROR_NOT_SUPPORTED: names of NvmlFunctions' members.
  std::set<std::string> unsupported;
  NvmlReturn init_result = nvml_success;

  unsigned power_instant_mw = 0;  ///< 0: not told
  unsigned power_mw = 512300, power_limit_mw = 700000, temperature_c = 61;
  unsigned sm_clock_mhz = 1755, max_sm_clock_mhz = 1980, memory_clock_mhz = 2619, max_memory_clock_mhz = 3201;
  unsigned pcie_generation = 4, max_pcie_generation = 5, pcie_width = 16, max_pcie_width = 16;
  unsigned ecc = 1, mig = 0, utilization_percent = 97;
  unsigned persistence = 1, default_power_limit_mw = 700000, device_count = 1;
  int cuda_version = 13000;
  unsigned long long memory_used = 50ULL << 30;
  unsigned long long energy_mj = 1000000, throttle_reasons = 0, ecc_errors = 0;
  std::vector<NvmlProcess> processes;
  /// What hardware counters come to between any two samples, in per cent: multiprocessors, tensor cores, memory.
  double gpm_percent[3] = {80, 45, 30};

  int opened = 0, gpm_samples_held = 0, gpm_samples_taken = 0;
};

}  // namespace gpubench::support
