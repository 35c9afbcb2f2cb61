// Versions of the libraries that compute, opened as the backends open them; and the program that draws charts.
#include <array>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sstream>
#include <unistd.h>

#include "core/base/error.h"
#include "core/base/program.h"
#include "core/doctor/checks.h"

namespace gpubench {
namespace {

namespace fs = std::filesystem;

/// cuDNN computes with the cuBLASLt that the process has opened. Another one that was installed with cuDNN is the one
/// it was made for. nullopt if there is none, or one of the same version.
std::optional<std::string> other_cublaslt(const Machine& machine, const GpuLibrary& cublaslt, const GpuLibrary& cudnn) {
  const fs::path used = cublaslt.library->path(), folder = cudnn.library->path().parent_path();
  for (const fs::path& place : {folder, folder / "../../cublas/lib", folder / "../../cu13/lib"}) {
    const std::string file = (place / cublaslt_library.file).lexically_normal().string();
    std::error_code failed;
    if (!fs::exists(file, failed) || fs::equivalent(file, used, failed)) continue;
    GpuLibraryInfo info = cublaslt_library;
    info.file = file;
    const GpuLibrary other = open_gpu_library(info, machine.sources().cuda_version, machine.sources().open_library);
    if (other.text.empty() || other.text == cublaslt.text) continue;
    return fmt::format("{} ({}) is used, and beside {} lies {} ({})", cublaslt.text, used.string(), cudnn.text,
                       other.text, file);
  }
  return std::nullopt;
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
  found.push_back("CUDA " + cuda_text(sources.cuda_version));
  std::vector<const GpuLibraryInfo*> needed{&cublaslt_library, &cudnn_library};
  if (sources.gpus.size() > 1) needed.push_back(&nccl_library);
  std::vector<GpuLibrary> opened;
  for (const GpuLibraryInfo* const info : needed) {
    const GpuLibrary& library =
        opened.emplace_back(open_gpu_library(*info, sources.cuda_version, sources.open_library));
    if (library.fault) {
      return wrong(library.fault->reason, fmt::format("{} on a GPU fail", info->needed_for), library.fault->remedy);
    }
    found.push_back(library.text);
  }
  if (const auto two = other_cublaslt(machine, opened[0], opened[1])) {
    return costs_speed(*two, "cuDNN leaves out engines that need its own version of cuBLASLt",
                       "install one version only, or set LD_LIBRARY_PATH to the folder of the one for cuDNN");
  }
  return ok(fmt::format("{}", fmt::join(found, "; ")));
}

CheckResult check_gnuplot(const Machine& machine) {
  if (!carried_program("gnuplot").empty()) return ok("the one that comes with gpubench");
  std::istringstream folders(machine.variable("PATH").value_or(""));
  for (std::string folder; std::getline(folders, folder, ':');) {
    const std::filesystem::path program = std::filesystem::path(folder.empty() ? "." : folder) / "gnuplot";
    std::error_code hidden;
    if (std::filesystem::is_regular_file(program, hidden) && ::access(program.c_str(), X_OK) == 0)
      return ok(program.string());
  }
  return wrong("there is no program gnuplot on the PATH", "reports have no charts",
               "install the package gnuplot-nox; gpubench finish RUN then draws them");
}

}  // namespace gpubench
