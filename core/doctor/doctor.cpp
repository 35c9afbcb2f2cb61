#include "core/doctor/doctor.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <exception>
#include <utility>

#include "core/base/enum_names.h"
#include "core/base/error.h"
#include "core/base/known_names.h"
#include "core/doctor/checks.h"
#include "core/telemetry/proc/core_rate.h"

namespace gpubench {
namespace {

constexpr EnumNames<CheckState, 4> state_names{"unknown state of a check", {"ok", "costs speed", "wrong", "unknown"}};

/// Exactly one of the functions is there.
struct CheckRow {
  std::string_view name, looks_at;
  CheckResult (*of_machine)(const Machine& machine) = nullptr;
  CheckResult (*of_gpu)(const Machine& machine, const MachineGpu& gpu) = nullptr;
};

constexpr CheckRow of_machine(std::string_view name, std::string_view looks_at, CheckResult (*run)(const Machine&)) {
  return {.name = name, .looks_at = looks_at, .of_machine = run};
}
constexpr CheckRow of_gpu(std::string_view name, std::string_view looks_at,
                          CheckResult (*run)(const Machine&, const MachineGpu&)) {
  return {.name = name, .looks_at = looks_at, .of_gpu = run};
}

constexpr std::array check_rows = {
    of_machine("devices", "GPUs that are in the machine and not used, and why", &check_devices),
    of_machine("driver", "NVIDIA's driver: loaded, of one version, new enough for this program", &check_driver),
    of_machine("libraries", "CUDA, cuBLASLt, cuDNN, NCCL, oneDNN: there, and of versions that fit", &check_libraries),
    of_machine("environment", "variables that slow down or restrict libraries", &check_environment),
    of_machine("load", "other programs and the hypervisor, for a second", &check_load),
    of_machine("cpu_limit", "processors that affinity, cpuset and quota leave to this process", &check_cpu_limit),
    of_machine("cpu_cores", "whether processors are cores of their own", &check_cpu_cores),
    of_machine("cpu_governor", "clocks of the processors", &check_cpu_governor),
    of_machine("memory_limit", "memory that this process may still take", &check_memory_limit),
    of_machine("shared_memory", "room in /dev/shm, through which processes exchange", &check_shared_memory),
    of_machine("gnuplot", "the program that draws charts", &check_gnuplot),
    of_gpu("gpu_sharing", "other processes on the GPU, and memory that they hold", &check_gpu_sharing),
    of_gpu("gpu_throttling", "slow-downs by heat, the power brake or the hardware", &check_gpu_throttling),
    of_gpu("gpu_clocks", "clocks and power limit below what the card can do", &check_gpu_clocks),
    of_gpu("gpu_mig", "whether the GPU is split into slices, and which one this process has", &check_gpu_mig),
    of_gpu("gpu_persistence", "whether the driver stays loaded", &check_gpu_persistence),
    of_gpu("gpu_link", "lanes and generation of the PCIe link", &check_gpu_link),
    of_gpu("gpu_numa", "whether this process runs on processors near the GPU", &check_gpu_numa),
    of_gpu("gpu_errors", "uncorrected errors of the GPU's memory", &check_gpu_errors),
};

/// No fault of a machine may end the program that looks for faults.
template <class Check>
CheckResult guarded(const Check& check) {
  try {
    return check();
  } catch (const Error& error) {
    return unknown(error.what());
  } catch (const std::filesystem::filesystem_error& error) {
    return unknown(error.what());
  }
}

void check_names(std::span<const std::string> only) {
  std::vector<std::string_view> names;
  for (const CheckRow& row : check_rows) names.push_back(row.name);
  for (const std::string& name : only) {
    if (std::ranges::find(names, name) == names.end()) throw_unknown_name("doctor: there is no check", name, names);
  }
}

}  // namespace

std::string_view to_string(CheckState state) {
  return state_names[state];
}

CheckState check_state(std::string_view text) {
  const auto found = std::ranges::find(state_names.names, text);
  if (found == state_names.names.end()) return CheckState::unknown;
  return static_cast<CheckState>(found - state_names.names.begin());
}

MachineSources machine_sources() {
  MachineSources sources;
  sources.environment = [](const std::string& name) {
    const char* const value = std::getenv(name.c_str());
    return value == nullptr ? std::nullopt : std::optional<std::string>(value);
  };
  sources.open_nvml = &open_nvml;
  sources.space = [](const std::filesystem::path& folder) -> std::optional<std::filesystem::space_info> {
    std::error_code missing;
    const std::filesystem::space_info space = std::filesystem::space(folder, missing);
    return missing ? std::nullopt : std::optional(space);
  };
  sources.look_at_load = [] {
    Ticker ticker;
    return wait_for_idle_machine({}, Seconds(1), ticker);
  };
  sources.rate_at_once = &rate_at_once;
  sources.processors = allowed_processors();
  return sources;
}

std::vector<CheckResult> check_machine(const MachineSources& sources, std::span<const std::string> only) {
  check_names(only);
  const Machine machine(sources);
  std::vector<CheckResult> results;
  const auto add = [&](const CheckRow& row, const std::string& device, CheckResult result) {
    result.name = row.name;
    result.device = device;
    results.push_back(std::move(result));
  };
  for (const CheckRow& row : check_rows) {
    if (!only.empty() && std::ranges::find(only, row.name) == only.end()) continue;
    if (row.of_machine != nullptr) add(row, {}, guarded([&] { return row.of_machine(machine); }));
    for (const MachineGpu& gpu : machine.gpus()) {
      if (row.of_gpu == nullptr) continue;
      add(row, gpu.gpu.name, gpu.sensors ? guarded([&] { return row.of_gpu(machine, gpu); }) : unknown(gpu.reason));
    }
  }
  return results;
}

std::vector<CheckInfo> all_checks() {
  std::vector<CheckInfo> checks;
  for (const CheckRow& row : check_rows) checks.push_back({row.name, row.looks_at});
  return checks;
}

}  // namespace gpubench
