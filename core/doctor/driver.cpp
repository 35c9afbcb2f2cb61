// NVIDIA's driver has two halves: the kernel's module and the libraries of programs. After an update without a restart
// their versions differ, and nothing works.
#include <algorithm>
#include <cctype>
#include <fmt/format.h>
#include <sstream>

#include "core/base/error.h"
#include "core/doctor/checks.h"
#include "core/nvidia/gpu_fault.h"

namespace gpubench {
namespace {

constexpr const char* version_file = "proc/driver/nvidia/version";
constexpr const char* no_gpu_works = "no GPU can be used; training runs on the CPU";

/// The first word such as 580.65.06 of "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.65.06  Sun ...".
std::string version_in(const std::string& text) {
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    const bool numbers = std::ranges::all_of(word, [](unsigned char c) { return std::isdigit(c) != 0 || c == '.'; });
    if (numbers && std::ranges::count(word, '.') >= 1 && word.front() != '.') return word;
  }
  return {};
}

CheckResult without_nvml(const Machine& machine, const std::string& module) {
  const std::string& reason = machine.nvml().reason;
  if (!machine.sources().gpus.empty()) return unknown("the driver's library NVML cannot be used: " + reason);
  if (machine.nvidia_cards() == 0 && module.empty()) return ok("none, and none is needed");
  if (const auto fault = driver_fault(machine.sources().root)) return wrong(fault->reason, no_gpu_works, fault->remedy);
  return wrong(fmt::format("version {} is loaded, and its library cannot be used: {}", module, reason), no_gpu_works,
               "restart the machine after an update of the driver; in a container, use the NVIDIA runtime");
}

}  // namespace

CheckResult check_driver(const Machine& machine) {
  const FileText file = machine.read(version_file);
  const std::string module = version_in(file.text);
  const auto& nvml = machine.nvml().nvml;
  const MachineSources& sources = machine.sources();
  const int cuda = nvml ? nvml->cuda_version().value_or(sources.driver_cuda_version) : sources.driver_cuda_version;
  if (const auto old = old_driver(cuda, sources.cuda_version)) return wrong(old->reason, no_gpu_works, old->remedy);
  if (!nvml) return without_nvml(machine, module);
  const std::string library = nvml->driver_version();
  if (!module.empty() && module != library) {
    return wrong(fmt::format("the kernel's module is of version {}, the libraries are of version {}", module, library),
                 no_gpu_works,
                 "restart the machine, or load the module anew: rmmod nvidia_uvm nvidia; modprobe nvidia");
  }
  return ok(cuda == 0 ? library : fmt::format("{}, for CUDA {}", library, cuda_text(cuda)));
}

}  // namespace gpubench
