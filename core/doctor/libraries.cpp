// Versions of the libraries that compute, opened as the backends open them.
#include <array>
#include <cstddef>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/error.h"
#include "core/doctor/checks.h"

namespace gpubench {
namespace {

/// NCCL writes its version into an argument, the others return it. Versions are major * scale + minor * 100 + patch.
struct Library {
  std::string_view label;
  std::array<std::string_view, 1> names;
  const char* version;    ///< symbol
  const char* built_for;  ///< symbol of the CUDA version that it was built for; nullptr if it does not tell
  int scale;
  int least_major;
  std::string_view needed_for, package;
};

constexpr std::array libraries = {
    Library{.label = "cuBLASLt",
            .names = {"libcublasLt.so.13"},
            .version = "cublasLtGetVersion",
            .built_for = "cublasLtGetCudartVersion",
            .scale = 10000,
            .least_major = 13,
            .needed_for = "matrix products",
            .package = "libcublas-13-0, or nvidia-cublas with pip"},
    Library{.label = "cuDNN",
            .names = {"libcudnn.so.9"},
            .version = "cudnnGetVersion",
            .built_for = "cudnnGetCudartVersion",
            .scale = 10000,
            .least_major = 9,
            .needed_for = "convolutions and softmax",
            .package = "cudnn9-cuda-13, or nvidia-cudnn-cu13 with pip"},
    Library{.label = "NCCL",
            .names = {"libnccl.so.2"},
            .version = "ncclGetVersion",
            .built_for = nullptr,
            .scale = 10000,
            .least_major = 2,
            .needed_for = "exchanges between GPUs",
            .package = "libnccl2, or nvidia-nccl-cu13 with pip"},
};

bool writes_version(const Library& library) {
  return library.built_for == nullptr;
}

struct Versions {
  int version = 0;
  int built_for = 0;  ///< 13000 is CUDA 13.0; 0 if unknown
};

Versions versions_of(const Library& row, const SharedLibrary& library) {
  Versions versions;
  if (writes_version(row)) {
    int (*get)(int*) = nullptr;
    library.bind(get, row.version);
    if (get(&versions.version) != 0) throw Error(fmt::format("{} does not tell its version", row.label));
    return versions;
  }
  std::size_t (*get)() = nullptr;
  library.bind(get, row.version);
  versions.version = static_cast<int>(get());
  library.bind_if_there(get, row.built_for);
  if (get != nullptr) versions.built_for = static_cast<int>(get());
  return versions;
}

std::string text_of(const Library& row, int version) {
  return fmt::format("{} {}.{}.{}", row.label, version / row.scale, version % row.scale / 100, version % 100);
}

/// Empty if it fits.
std::string misfit(const Library& row, const Versions& versions, int cuda) {
  if (versions.version / row.scale < row.least_major) {
    return fmt::format("{} is older than {}", text_of(row, versions.version), row.least_major);
  }
  if (versions.built_for != 0 && versions.built_for / 1000 != cuda / 1000) {
    return fmt::format("{} was built for CUDA {}, this program for CUDA {}", text_of(row, versions.version),
                       versions.built_for / 1000, cuda / 1000);
  }
  return {};
}

CheckResult fault(const Library& row, const std::string& found) {
  return wrong(found, fmt::format("{} on a GPU fail", row.needed_for), fmt::format("install {}", row.package));
}

}  // namespace

CheckResult check_libraries(const Machine& machine) {
  const MachineSources& sources = machine.sources();
  std::vector<std::string> found;
  if (!sources.cpu_library.empty()) found.push_back(sources.cpu_library);
  if (sources.cuda_version == 0 || sources.gpus.empty()) {
    found.emplace_back("NVIDIA's are not needed without a GPU");
    return ok(fmt::format("{}", fmt::join(found, "; ")));
  }
  found.push_back(fmt::format("CUDA {}.{}", sources.cuda_version / 1000, sources.cuda_version % 1000 / 10));
  for (const Library& row : libraries) {
    const bool needed = !writes_version(row) || sources.gpus.size() > 1;
    if (!needed) continue;
    try {
      const Versions versions = versions_of(row, sources.open_library(row.names));
      if (const std::string reason = misfit(row, versions, sources.cuda_version); !reason.empty())
        return fault(row, reason);
      found.push_back(text_of(row, versions.version));
    } catch (const Error& error) {
      return fault(row, fmt::format("{} cannot be used: {}", row.label, error.what()));
    }
  }
  return ok(fmt::format("{}", fmt::join(found, "; ")));
}

}  // namespace gpubench
