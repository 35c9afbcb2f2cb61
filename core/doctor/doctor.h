// Checks of the machine that change what a measurement shows. doctor.cpp has their table. A check reads MachineSources
// and nothing else, so that tests inject every fault.
#pragma once
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/device/device_fault.h"
#include "core/device/device_slice.h"
#include "core/doctor/check.h"
#include "core/nvidia/gpu_library.h"
#include "core/telemetry/nvml/nvml.h"
#include "core/telemetry/proc/contention.h"

namespace gpubench {

/// A GPU that the program uses.
struct CheckedGpu {
  std::string name;    ///< "gpu:0"
  std::string bus_id;  ///< as CUDA spells it
  std::optional<DeviceSlice> slice = std::nullopt;
};

struct MachineSources {
  /// The root of the file system, with dev/, proc/ and sys/.
  std::filesystem::path root = "/";
  /// A variable of the environment; nullopt if it is not set.
  std::function<std::optional<std::string>(const std::string&)> environment;
  std::function<NvmlAccess()> open_nvml;
  /// Opens one of NVIDIA's libraries as the GPU backend does; throws Error.
  LibraryOpener open_library = &open_nvidia_library;
  /// Bytes of a file system: all, and free ones; nullopt if there is none.
  std::function<std::optional<std::filesystem::space_info>(const std::filesystem::path&)> space;
  /// A look at what other programs use, for a second.
  std::function<Contention()> look_at_load;
  /// How many times the work of one of these processors all do at once.
  std::function<std::optional<double>(const std::vector<int>& processors)> rate_at_once;

  /// The CUDA that the program was built with: 13000 is 13.0; 0 without CUDA.
  int cuda_version = 0;
  /// The CPU backend's library: "oneDNN 2.6.2, strict".
  std::string cpu_library;
  std::vector<CheckedGpu> gpus;
  /// The CUDA that the loaded driver is for, as CUDA's runtime reports it; 0 if unknown.
  int driver_cuda_version = 0;
  /// The GPU backend's reason why there is no GPU; nullopt if there is one.
  std::optional<DeviceFault> gpu_absence;
  /// "GPU 1 (NVIDIA H100) ...": GPUs that are there and cannot be used.
  std::vector<DeviceFault> unusable_gpus;
  /// Processors that this process may use.
  std::vector<int> processors;
};

/// What this machine and process have; `gpus` and what the backends say are left to the caller.
MachineSources machine_sources();

/// In the order of the table; a check of GPUs gives one result for each GPU. `only`: names of checks; all if empty.
/// Throws Error for an unknown name. What cannot be read is `unknown`, never an error.
std::vector<CheckResult> check_machine(const MachineSources& sources, std::span<const std::string> only = {});

/// The check `load` for a look that was taken elsewhere.
CheckResult load_result(const Contention& contention);

struct CheckInfo {
  std::string_view name;
  std::string_view looks_at;
};
/// All checks, in the order of the table.
std::vector<CheckInfo> all_checks();

}  // namespace gpubench
