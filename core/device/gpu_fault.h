// Why an NVIDIA GPU cannot be opened, as far as files of the system and the environment show it. The GPU backend says
// it in its errors, `gpubench doctor` with the remedy.
#pragma once
#include <filesystem>
#include <optional>
#include <string>

namespace gpubench {

struct GpuFault {
  std::string reason;  ///< "/dev/nvidia0 may not be opened by this user (it belongs to group video)"
  std::string remedy;  ///< "add the user to the group video"
};

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
