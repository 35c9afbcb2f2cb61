#include "tests/core/doctor/fake_machine.h"

#include <array>
#include <cstdlib>

#include "core/base/error.h"

namespace gpubench {
namespace {

constexpr const char* card = "sys/bus/pci/devices/0000:1b:00.0/";

}  // namespace

void set_library_version(const char* variable, int version) {
  ::setenv(variable, std::to_string(version).c_str(), 1);
}

DoctorTest::DoctorTest() {
  put("proc/driver/nvidia/version", "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.65.06  Sun Jul 27 2025\n");
  put("dev/nvidiactl", "");
  put("dev/nvidia0", "");
  put(std::string(card) + "vendor", "0x10de\n");
  put(std::string(card) + "class", "0x030200\n");
  put(std::string(card) + "local_cpulist", "0-3\n");
  put(std::string(card) + "numa_node", "0\n");
  put(std::string(card) + "max_link_width", "16\n");
  put("sys/devices/system/cpu/online", "0-3\n");
  for (const char* const cpu : {"cpu0", "cpu1", "cpu2", "cpu3"}) {
    const std::string folder = std::string("sys/devices/system/cpu/") + cpu + "/cpufreq/";
    put(folder + "scaling_governor", "performance\n");
    put(folder + "scaling_driver", "acpi-cpufreq\n");
    put(folder + "cpuinfo_max_freq", "3000000\n");
    put(folder + "scaling_max_freq", "3000000\n");
  }
  put("proc/meminfo", "MemTotal:       67108864 kB\nMemAvailable:   50331648 kB\n");
  put("proc/self/cgroup", "0::/job\n");
  put("bin/gnuplot", "#!/bin/sh\n");
  std::filesystem::permissions(file("bin/gnuplot"), std::filesystem::perms::owner_all);
  environment_["PATH"] = file("nothing").string() + ":" + file("bin").string();

  nvml_.sm_clock_mhz = 1980;
  nvml_.pcie_generation = 5;
  nvml_.memory_used = 1ULL << 30;

  set_library_version("FAKE_CUBLASLT_VERSION", 130101);
  set_library_version("FAKE_CUDNN_VERSION", 91200);
  set_library_version("FAKE_NCCL_VERSION", 22703);
  set_library_version("FAKE_BUILT_FOR_CUDA", 13000);
  set_library_version("FAKE_CUDNN_PARTS_STATUS", 0);

  sources_.root = file("");
  sources_.environment = [this](const std::string& name) {
    const auto found = environment_.find(name);
    return found == environment_.end() ? std::nullopt : std::optional(found->second);
  };
  sources_.open_nvml = [this] { return NvmlAccess{nvml_.open(), {}}; };
  sources_.open_library = [this](std::span<const std::string_view> names) {
    for (const std::string_view name : names) {
      if (missing_libraries_.contains(std::string(name))) throw Error(std::string(name) + ": no such file");
    }
    constexpr std::array<std::string_view, 1> all{FAKE_NVIDIA_LIBRARIES};
    return SharedLibrary(all, {});
  };
  sources_.space = [](const std::filesystem::path&) {
    return std::optional(std::filesystem::space_info{.capacity = 1U << 30, .free = 1U << 30, .available = 1U << 30});
  };
  sources_.look_at_load = [] {
    Contention calm;
    calm.others_share = 0.01;
    calm.stolen_share = 0;
    return calm;
  };
  sources_.rate_at_once = [](const std::vector<int>& processors) {
    return std::optional(0.97 * static_cast<double>(processors.size()));
  };
  sources_.cuda_version = 13000;
  sources_.cpu_library = "oneDNN 2.6.2, strict";
  sources_.gpus = {{"gpu:0", nvml_.bus_id}};
  sources_.processors = {0, 1, 2, 3};
}

void DoctorTest::put(const std::string& name, const std::string& text) const {
  std::filesystem::create_directories(file(name).parent_path());
  write(name, text);
}

CheckResult DoctorTest::result(const std::string& name) const {
  const std::array only{name};
  const std::vector<CheckResult> results = check_machine(sources_, only);
  EXPECT_EQ(results.size(), 1U) << name;
  return results.at(0);
}

std::string DoctorTest::state_of(const std::string& name) const {
  const CheckResult one = result(name);
  EXPECT_FALSE(one.found.empty()) << name;
  EXPECT_EQ(one.is_problem(), !one.consequence.empty()) << name;
  EXPECT_EQ(one.is_problem(), !one.remedy.empty()) << name;
  return std::string(to_string(one.state)) + ": " + one.found;
}

void DoctorTest::take_gpu_away() {
  for (const char* const name : {"proc/driver", "dev", "sys/bus"}) remove(name);
  sources_.open_nvml = [] { return NvmlAccess{nullptr, "libnvidia-ml.so.1: no such file"}; };
  sources_.gpus = {};
  sources_.gpu_absence = DeviceFault{"no NVIDIA driver is loaded", "install NVIDIA's driver"};
}

}  // namespace gpubench
