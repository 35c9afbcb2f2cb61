// Faults of the machine and of what this process may use.
#include "core/doctor/machine.h"

#include <gmock/gmock.h>

#include "core/base/group_limits.h"
#include "tests/core/doctor/fake_machine.h"

namespace gpubench {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

using DoctorOfMachine = DoctorTest;

TEST(ProcessorLists, AreReadAndWritten) {
  EXPECT_THAT(parse_processors("0-2,7,9-9\n"), ElementsAre(0, 1, 2, 7, 9));
  EXPECT_EQ(processors_text({0, 1, 2, 7, 9, 10}), "0-2,7,9-10");
  for (const char* const text : {"", "a", "3-1", "1,", "1,,2", "1-", "-1", "0-99999999", "1 2"}) {
    const std::vector<int> read = parse_processors(text);
    EXPECT_TRUE(read.empty() || std::string(text) == "1,") << text;
  }
}

TEST_F(DoctorOfMachine, FewerProcessorsThanTheMachineHas) {
  sources_.processors = {1};
  EXPECT_EQ(state_of("cpu_limit"), "costs speed: 1 of 4 processors may be used (1: affinity or cpuset)");
}

TEST_F(DoctorOfMachine, CoresThatAreThreadsOfOne) {
  EXPECT_EQ(state_of("cpu_cores"), "ok: 4 cores do 3.9 times the work of one");
  sources_.rate_at_once = [](const std::vector<int>& processors) {
    return std::optional(0.5 * static_cast<double>(processors.size()));
  };
  EXPECT_EQ(state_of("cpu_cores"),
            "costs speed: 4 cores do 2 times the work of one: they are threads that share cores");
  int looks = 0;
  sources_.rate_at_once = [&](const std::vector<int>&) { return std::optional(++looks < 3 ? 1.1 : 3.9); };
  EXPECT_EQ(state_of("cpu_cores"), "ok: 4 cores do 3.9 times the work of one") << "they shared a core for a while";
  EXPECT_EQ(looks, 3);
  sources_.rate_at_once = [](const std::vector<int>&) { return std::optional<double>(); };
  EXPECT_EQ(state_of("cpu_cores"), "unknown: threads cannot be bound to processors");
}

TEST_F(DoctorOfMachine, OneProcessorOfEachCoreIsAsked) {
  const std::string cpu = "sys/devices/system/cpu/cpu";
  put(cpu + "0/topology/thread_siblings_list", "0,2\n");
  put(cpu + "1/topology/thread_siblings_list", "1,3\n");
  put(cpu + "2/topology/thread_siblings_list", "0,2\n");
  put(cpu + "3/topology/thread_siblings_list", "1,3\n");
  EXPECT_EQ(state_of("cpu_cores"), "ok: 2 cores do 1.9 times the work of one");
  sources_.processors = {0, 2};
  EXPECT_EQ(state_of("cpu_cores"), "ok: one core");
}

TEST_F(DoctorOfMachine, AQuotaOfProcessorTime) {
  put("sys/fs/cgroup/job/cpu.max", "150000 100000\n");
  EXPECT_THAT(state_of("cpu_limit"), StartsWith("costs speed: a quota of 1.5 of 4 processors"));
  EXPECT_THAT(result("cpu_limit").remedy, StartsWith("--threads 1,"));
  put("sys/fs/cgroup/job/cpu.max", "max 100000\n");
  EXPECT_EQ(state_of("cpu_limit"), "ok: all 4 processors");
  put("sys/fs/cgroup/cpu.max", "50000 100000\n");
  EXPECT_THAT(state_of("cpu_limit"), HasSubstr("a quota of 0.5 of")) << "that of a group around the own one";
}

TEST_F(DoctorOfMachine, LimitsOfTheFirstVersionOfControlGroups) {
  put("proc/self/cgroup", "4:memory:/job\n3:cpu,cpuacct:/job\n");
  put("sys/fs/cgroup/cpu/job/cpu.cfs_quota_us", "200000\n");
  put("sys/fs/cgroup/cpu/job/cpu.cfs_period_us", "100000\n");
  put("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n");
  put("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
  put("sys/fs/cgroup/memory/job/memory.limit_in_bytes", "1073741824\n");
  put("sys/fs/cgroup/memory/job/memory.usage_in_bytes", "536870912\n");
  put("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  const GroupLimits limits = group_limits(sources_.root);
  EXPECT_EQ(limits.processors, 2.0);
  EXPECT_EQ(limits.memory_bytes, 1073741824.0);
  EXPECT_EQ(limits.memory_used_bytes, 536870912.0);
  EXPECT_EQ(state_of("memory_limit"), "costs speed: 512 MiB of 1 GiB of the control group (memory.max) are free");
}

TEST_F(DoctorOfMachine, WithoutControlGroupsNothingLimits) {
  remove("proc/self/cgroup");
  const GroupLimits limits = group_limits(sources_.root);
  EXPECT_FALSE(limits.processors || limits.memory_bytes);
  EXPECT_EQ(state_of("memory_limit"), "ok: 48 GiB of 64 GiB are free");
}

TEST_F(DoctorOfMachine, LittleMemory) {
  put("sys/fs/cgroup/job/memory.max", "4294967296\n");
  put("sys/fs/cgroup/job/memory.current", "3221225472\n");
  EXPECT_EQ(state_of("memory_limit"), "costs speed: 1 GiB of 4 GiB of the control group (memory.max) are free");
  remove("sys/fs/cgroup");
  put("proc/self/limits",
      "Limit   Soft  Hard  Units\nMax address space         2147483648           unlimited  bytes\n");
  put("proc/self/status", "VmSize:   1048576 kB\n");
  EXPECT_EQ(state_of("memory_limit"), "costs speed: 1 GiB of 2 GiB of address space (ulimit -v) are free");
  put("proc/self/limits", "Max address space         unlimited            unlimited  bytes\n");
  put("proc/meminfo", "MemTotal: 8388608 kB\nMemAvailable: 524288 kB\n");
  EXPECT_EQ(state_of("memory_limit"), "costs speed: 512 MiB of 8 GiB are free");
}

TEST_F(DoctorOfMachine, LittleSharedMemory) {
  std::uintmax_t bytes = 32U << 20;
  sources_.space = [&](const std::filesystem::path& folder) {
    EXPECT_EQ(folder, sources_.root / "dev/shm");
    return std::optional(std::filesystem::space_info{.capacity = bytes, .free = bytes, .available = bytes});
  };
  EXPECT_EQ(state_of("shared_memory"), "costs speed: 32 MiB of 32 MiB are free");
  EXPECT_THAT(result("shared_memory").remedy, HasSubstr("--shm-size"));
  bytes = 64U << 20;
  EXPECT_THAT(state_of("shared_memory"), StartsWith("ok: "));
  sources_.gpus.push_back({"gpu:1", "0000:2c:00.0"});
  EXPECT_THAT(state_of("shared_memory"), StartsWith("costs speed: ")) << "64 MiB for each GPU";
  sources_.space = [](const std::filesystem::path&) { return std::nullopt; };
  EXPECT_EQ(state_of("shared_memory"), "costs speed: there is no /dev/shm");
}

TEST_F(DoctorOfMachine, Load) {
  sources_.look_at_load = [] {
    Contention busy;
    busy.others_share = 0.5;
    busy.stolen_share = 0.02;
    return busy;
  };
  EXPECT_EQ(state_of("load"), "costs speed: other programs use 50 % of the processors, the hypervisor takes 2 %");
  sources_.look_at_load = [] { return Contention{}; };
  EXPECT_EQ(state_of("load"), "unknown: the system does not tell how busy the processors are");
}

TEST_F(DoctorOfMachine, Governors) {
  const std::string folder = "sys/devices/system/cpu/cpu2/cpufreq/";
  const auto governor = [&](const std::string& name) {
    put(folder + "scaling_governor", name + "\n");
    return state_of("cpu_governor");
  };
  EXPECT_EQ(governor("powersave"), "costs speed: processor 2: powersave");
  EXPECT_EQ(governor("ondemand"), "costs speed: processor 2: ondemand");
  EXPECT_EQ(governor("schedutil"), "ok: performance") << "of the last processor";
  EXPECT_EQ(governor(""), "unknown: /sys/devices/system/cpu/cpu2/cpufreq/scaling_governor is empty");
  put(folder + "scaling_driver", "intel_pstate\n");
  EXPECT_THAT(governor("powersave"), StartsWith("ok: ")) << "its dynamic governor";
  put(folder + "energy_performance_preference", "power\n");
  EXPECT_EQ(governor("powersave"), "costs speed: processor 2: the energy preference power");
  put(folder + "scaling_max_freq", "1500000\n");
  EXPECT_EQ(governor("performance"), "costs speed: processor 2: limited to 1500 of 3000 MHz");
  remove("sys/devices/system/cpu/cpu0/cpufreq");
  EXPECT_EQ(state_of("cpu_governor"), "ok: not set here: a virtual machine, or fixed clocks");
}

TEST_F(DoctorOfMachine, Variables) {
  environment_["CUDA_LAUNCH_BLOCKING"] = "0";
  environment_["ONEDNN_MAX_CPU_ISA"] = "ALL";
  environment_["NCCL_DEBUG"] = "WARN";
  environment_["OMP_THREAD_LIMIT"] = "4";
  EXPECT_THAT(state_of("environment"), StartsWith("ok: "));
  environment_["CUDA_LAUNCH_BLOCKING"] = "1";
  environment_["ONEDNN_MAX_CPU_ISA"] = "SSE41";
  environment_["DNNL_MAX_CPU_ISA"] = "SSE41";
  environment_["OMP_THREAD_LIMIT"] = "2";
  EXPECT_EQ(state_of("environment"),
            "costs speed: CUDA_LAUNCH_BLOCKING=1, "
            "ONEDNN_MAX_CPU_ISA=SSE41, DNNL_MAX_CPU_ISA=SSE41, OMP_THREAD_LIMIT=2");
  EXPECT_EQ(result("environment").remedy,
            "unset CUDA_LAUNCH_BLOCKING ONEDNN_MAX_CPU_ISA DNNL_MAX_CPU_ISA OMP_THREAD_LIMIT");
}

TEST_F(DoctorOfMachine, NoGnuplot) {
  EXPECT_EQ(state_of("gnuplot"), "ok: " + file("bin/gnuplot").string());
  std::filesystem::permissions(file("bin/gnuplot"), std::filesystem::perms::owner_read);
  EXPECT_EQ(state_of("gnuplot"), "wrong: there is no program gnuplot on the PATH");
  environment_.erase("PATH");
  EXPECT_THAT(state_of("gnuplot"), StartsWith("wrong: "));
}

}  // namespace
}  // namespace gpubench
