// What on a machine may keep NVIDIA's GPUs from being used, and what to do about it.
#pragma once
#include <filesystem>
#include <optional>
#include <string>

#include "core/device/device_fault.h"

namespace gpubench {

/// A CUDA version in words: "13.0" for 13000.
std::string cuda_text(int version);

/// The driver is for an older major version of CUDA than the program. Within a major version, every driver runs
/// programs of every minor version. `driver`: 0 if unknown.
std::optional<DeviceFault> old_driver(int driver, int needed);

/// CUDA_VISIBLE_DEVICES has a value that hides every GPU, whatever the machine has.
std::optional<DeviceFault> hidden_gpus(const std::optional<std::string>& visible_devices);

/// No device node (also: a container without the NVIDIA runtime), or no right to open one. `root`: the root directory;
/// tests pass their own.
std::optional<DeviceFault> node_fault(const std::filesystem::path& root = "/");

/// No kernel module, or node_fault().
std::optional<DeviceFault> driver_fault(const std::filesystem::path& root = "/");

/// Whether the process runs in a container.
bool in_container(const std::filesystem::path& root = "/");

}  // namespace gpubench
