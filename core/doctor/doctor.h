// Checks of the machine: about fifteen that change what a measurement shows. checks.cpp holds their table; a check reads
// only MachineSources, so tests inject every fault.
#pragma once
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/doctor/check.h"
#include "core/telemetry/nvml/nvml.h"
#include "core/telemetry/proc/contention.h"

namespace gpubench {

/// A GPU that the program uses, or one that it cannot use.
struct CheckedGpu {
  std::string name;    ///< "gpu:0"
  std::string bus_id;  ///< as CUDA spells it
};

struct MachineSources {
  /// The root of the file system, with dev/, proc/ and sys/.
  std::filesystem::path root = "/";
  /// A variable of the environment; nullopt if it is not set.
  std::function<std::optional<std::string>(const std::string&)> environment;
  std::function<NvmlAccess()> open_nvml = &gpubench::open_nvml;
  /// Where libraries are opened besides the loader's own path.
  std::vector<std::filesystem::path> library_folders;
  std::vector<CheckedGpu> gpus;
  /// The backend's reason why there is no GPU; empty if there is one.
  std::string gpu_absence;
  /// "GPU 1: ...": GPUs that are there and cannot be used.
  std::vector<std::string> unusable_gpus;
  /// Processors that this process may use.
  std::vector<int> processors = allowed_processors();
};

/// In the order of the table; a check of GPUs gives one result for each GPU. `only`: names of checks; all if empty.
/// No check throws: what cannot be read is `unknown`.
std::vector<CheckResult> check_machine(const MachineSources& sources, std::span<const std::string> only = {});

/// The names of all checks, in the order of the table.
std::vector<std::string_view> check_names();

}  // namespace gpubench
