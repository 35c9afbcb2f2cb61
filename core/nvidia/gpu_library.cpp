#include "core/nvidia/gpu_library.h"

#include <array>
#include <cstddef>
#include <fmt/format.h>
#include <utility>

#include "core/base/error.h"

namespace gpubench {
namespace {

namespace fs = std::filesystem;

// cuDNN's parts that our calls need; the others serve its older interface.
constexpr std::array<std::string_view, 5> cudnn_parts{"libcudnn_graph.so.9", "libcudnn_ops.so.9",
                                                      "libcudnn_heuristic.so.9", "libcudnn_engines_precompiled.so.9",
                                                      "libcudnn_engines_runtime_compiled.so.9"};
constexpr std::array<const char*, 2> cudnn_part_checks{"cudnnGraphVersionCheck", "cudnnOpsVersionCheck"};

int version_of(const GpuLibraryInfo& info, const SharedLibrary& library) {
  if (info.writes_version) {
    int (*get)(int*) = nullptr;
    library.bind(get, info.version);
    int version = 0;
    if (get(&version) != 0) throw Error(fmt::format("{} does not tell its version", info.label));
    return version;
  }
  std::size_t (*get)() = nullptr;
  library.bind(get, info.version);
  return static_cast<int>(get());
}

int built_for(const GpuLibraryInfo& info, const SharedLibrary& library) {
  std::size_t (*get)() = nullptr;
  if (info.built_for != nullptr) library.bind_if_there(get, info.built_for);
  return get == nullptr ? 0 : static_cast<int>(get());
}

std::string version_text(int version) {
  return fmt::format("{}.{}.{}", version / 10000, version % 10000 / 100, version % 100);
}

/// "9.12.0" of a link to "libcudnn_ops.so.9.12.0"; empty for a file whose name has no full version.
std::string version_in_name(const fs::path& file) {
  std::error_code failed;
  const std::string name = fs::canonical(file, failed).filename().string();
  constexpr std::string_view infix = ".so.";
  const std::size_t at = name.find(infix);
  if (failed || at == std::string::npos) return {};
  std::string version = name.substr(at + infix.size());
  return version.find('.') == std::string::npos ? std::string() : version;
}

/// nullopt if all parts are there and of the library's version.
std::optional<std::string> fault_of_parts(const GpuLibraryInfo& info, const SharedLibrary& library,
                                          const std::string& version, const LibraryOpener& open) {
  const fs::path folder = library.path().parent_path();
  for (const std::string_view part : info.parts) {
    std::error_code hidden;
    if (!fs::exists(folder / part, hidden)) {
      try {
        static_cast<void>(open(std::span(&part, 1)));
      } catch (const Error&) {
        return fmt::format("{} {} in {} lacks its part {}", info.label, version, folder.string(), part);
      }
      continue;
    }
    if (const std::string other = version_in_name(folder / part); !other.empty() && other != version) {
      return fmt::format("{} in {} is of two versions: {}, and its part {} of {}", info.label, folder.string(), version,
                         part, other);
    }
  }
  for (const char* const name : info.part_checks) {
    int (*check)() = nullptr;
    library.bind_if_there(check, name);
    if (check == nullptr) continue;
    if (const int status = check(); status != 0) {
      return fmt::format("{} {} in {} has parts of another version ({} returns {})", info.label, version,
                         folder.string(), name, status);
    }
  }
  return std::nullopt;
}

/// nullopt if it fits.
std::optional<std::string> misfit(const GpuLibraryInfo& info, const SharedLibrary& library, int version, int cuda) {
  const std::string text = version_text(version);
  if (version / 10000 < info.least_major)
    return fmt::format("{} {} is older than {}", info.label, text, info.least_major);
  if (const int built = built_for(info, library); built != 0 && cuda != 0 && built / 1000 != cuda / 1000) {
    return fmt::format("{} {} was built for CUDA {}, this program for CUDA {}", info.label, text, built / 1000,
                       cuda / 1000);
  }
  return std::nullopt;
}

}  // namespace

const GpuLibraryInfo cublaslt_library{.label = "cuBLASLt",
                                      .file = "libcublasLt.so.13",
                                      .version = "cublasLtGetVersion",
                                      .built_for = "cublasLtGetCudartVersion",
                                      .least_major = 13,
                                      .needed_for = "matrix products",
                                      .remedy = "install libcublas-13-0, or nvidia-cublas with pip"};

const GpuLibraryInfo cudnn_library{.label = "cuDNN",
                                   .file = "libcudnn.so.9",
                                   .version = "cudnnGetVersion",
                                   .built_for = "cudnnGetCudartVersion",
                                   .least_major = 9,
                                   .needed_for = "convolutions and softmax",
                                   .remedy =
                                       "install cudnn9-cuda-13, or nvidia-cudnn-cu13 with pip, complete and in "
                                       "one version",
                                   .parts = cudnn_parts,
                                   .part_checks = cudnn_part_checks};

const GpuLibraryInfo nccl_library{.label = "NCCL",
                                  .file = "libnccl.so.2",
                                  .version = "ncclGetVersion",
                                  .writes_version = true,
                                  .least_major = 2,
                                  .needed_for = "exchanges between GPUs",
                                  .remedy =
                                      "install libnccl2, or nvidia-nccl-cu13 with pip; cross_device = \"local\" "
                                      "does without it"};

SharedLibrary open_nvidia_library(std::span<const std::string_view> names) {
  SharedLibrary library(names, cuda_library_folders(python_package_folders()));
  library.keep_loaded();  // unloaded, these libraries leak what they took at their start
  return library;
}

GpuLibrary open_gpu_library(const GpuLibraryInfo& info, int cuda_version, const LibraryOpener& open) {
  GpuLibrary opened;
  const auto fail = [&](std::string reason) {
    opened.fault = DeviceFault{std::move(reason), std::string(info.remedy)};
  };
  try {
    opened.library = open(std::span(&info.file, 1));
    const int version = version_of(info, *opened.library);
    opened.text = fmt::format("{} {}", info.label, version_text(version));
    if (auto reason = misfit(info, *opened.library, version, cuda_version)) {
      fail(*std::move(reason));
    } else if (auto parts = fault_of_parts(info, *opened.library, version_text(version), open)) {
      fail(*std::move(parts));
    }
  } catch (const Error& error) {
    fail(fmt::format("{} cannot be used: {}", info.label, error.what()));
  }
  return opened;
}

SharedLibrary require_gpu_library(const GpuLibraryInfo& info, int cuda_version, const LibraryOpener& open) {
  GpuLibrary opened = open_gpu_library(info, cuda_version, open);
  if (opened.fault) throw Error(fmt::format("{} on a GPU fail: {}", info.needed_for, to_string(opened.fault)));
  return *std::move(opened.library);
}

}  // namespace gpubench
