// NVIDIA's libraries that gpubench opens at run time, and what can be wrong with those of a machine. The GPU backend,
// NCCL's communicator and `gpubench doctor` open them here, so they all give the same reasons.
#pragma once
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/base/shared_library.h"
#include "core/nvidia/gpu_fault.h"

namespace gpubench {

struct GpuLibraryInfo {
  std::string_view label;  ///< "cuDNN"
  std::string_view file;   ///< "libcudnn.so.9"
  /// A function that returns the version, major * 10000 + minor * 100 + patch, or writes it into its argument.
  const char* version;
  bool writes_version = false;
  /// A function that returns the CUDA version that the library was built for; nullptr if there is none.
  const char* built_for = nullptr;
  int least_major;
  std::string_view needed_for;  ///< "convolutions and softmax"
  std::string_view remedy;      ///< "install ..."
  /// Files that the library opens itself; all have its version.
  std::span<const std::string_view> parts = {};
  /// Functions that return 0 if parts are of the library's version.
  std::span<const char* const> part_checks = {};
};

extern const GpuLibraryInfo cublaslt_library, cudnn_library, nccl_library;

/// Opens the first of `names` that can be opened; throws Error.
using LibraryOpener = std::function<SharedLibrary(std::span<const std::string_view> names)>;
/// From the loader's path, the toolkit, or the wheels of a Python environment.
SharedLibrary open_nvidia_library(std::span<const std::string_view> names);

struct GpuLibrary {
  std::optional<SharedLibrary> library;  ///< nullopt if it cannot be opened
  std::string text;                      ///< "cuDNN 9.19.0"; empty if it does not report its version
  std::optional<DeviceFault> fault;
};
/// Opens a library and looks at its version and its parts. `cuda_version`: of the program; 13000 is 13.0.
GpuLibrary open_gpu_library(const GpuLibraryInfo& info, int cuda_version,
                            const LibraryOpener& open = &open_nvidia_library);

/// As open_gpu_library(); a fault is an Error with the reason and the remedy.
SharedLibrary require_gpu_library(const GpuLibraryInfo& info, int cuda_version,
                                  const LibraryOpener& open = &open_nvidia_library);

}  // namespace gpubench
