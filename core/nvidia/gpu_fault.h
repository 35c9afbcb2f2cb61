// Why an NVIDIA GPU cannot be used, and what to do about it. The GPU backend puts both into its errors; `gpubench
// doctor` shows the remedy on a line of its own.
#pragma once
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "core/base/error.h"

namespace gpubench {

struct GpuFault {
  std::string reason;  ///< "/dev/nvidia0 may not be opened by this user (it belongs to group video)"
  std::string remedy;  ///< "add the user to the group video"
};
/// "REASON; REMEDY"; empty for none.
std::string to_string(const std::optional<GpuFault>& fault);
/// All reasons, and each remedy once.
GpuFault fault_of_all(std::span<const GpuFault> faults);

/// The GPU is there, and this process cannot use it. Only a use shows that.
class UnusableGpu : public Error {
 public:
  explicit UnusableGpu(GpuFault fault)
      : Error(to_string(fault) + "; gpubench devices lists the GPUs that can be used"), fault_(std::move(fault)) {}
  const GpuFault& fault() const { return fault_; }

 private:
  GpuFault fault_;
};

/// A CUDA version in words: "13.0" for 13000.
std::string cuda_text(int version);

/// The driver is for an older major version of CUDA than the program. Within a major version, every driver runs
/// programs of every minor version. `driver`: 0 if unknown.
std::optional<GpuFault> old_driver(int driver, int needed);

/// CUDA_VISIBLE_DEVICES has a value that hides every GPU, whatever the machine has.
std::optional<GpuFault> hidden_gpus(const std::optional<std::string>& visible_devices);

/// No device node (also: a container without the NVIDIA runtime), or no right to open one. `root`: the root directory;
/// tests pass their own.
std::optional<GpuFault> node_fault(const std::filesystem::path& root = "/");

/// No kernel module, or node_fault().
std::optional<GpuFault> driver_fault(const std::filesystem::path& root = "/");

/// Whether the process runs in a container.
bool in_container(const std::filesystem::path& root = "/");

}  // namespace gpubench
