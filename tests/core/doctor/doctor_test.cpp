// All checks together: a sound machine, a machine that shows nothing, and a machine that fails half-way.
#include "core/doctor/doctor.h"

#include <array>
#include <gmock/gmock.h>
#include <sstream>
#include <unistd.h>

#include "tests/core/doctor/fake_machine.h"
#include "tests/support/expect_error.h"

namespace gpubench {
namespace {

using ::testing::AllOf;
using ::testing::Field;
using ::testing::HasSubstr;

TEST_F(DoctorTest, ASoundMachineHasNoProblem) {
  for (const CheckResult& one : check_machine(sources_)) {
    EXPECT_EQ(one.state, CheckState::ok) << one.name << ": " << one.found;
    EXPECT_NE(one.found, "") << one.name;
    EXPECT_EQ(one.consequence + one.remedy, "") << one.name;
    EXPECT_EQ(one.device, one.name.starts_with("gpu_") ? "gpu:0" : "");
  }
}

TEST_F(DoctorTest, EveryCheckGivesAResult) {
  std::vector<std::string> names;
  for (const CheckResult& one : check_machine(sources_)) names.push_back(one.name);
  std::vector<std::string> all;
  for (const CheckInfo& one : all_checks()) all.emplace_back(one.name);
  EXPECT_EQ(names, all);
}

TEST_F(DoctorTest, EveryGpuIsChecked) {
  sources_.gpus.push_back({"gpu:1", "0000:99:00.0"});
  const std::array only{std::string("gpu_link")};
  const std::vector<CheckResult> results = check_machine(sources_, only);
  ASSERT_EQ(results.size(), 2U);
  EXPECT_EQ(results[0].state, CheckState::ok);
  EXPECT_THAT(results[1], AllOf(Field(&CheckResult::device, "gpu:1"), Field(&CheckResult::state, CheckState::unknown),
                                Field(&CheckResult::found, HasSubstr("the driver shows no GPU at 00000000:99:00.0"))));
}

TEST_F(DoctorTest, AnUnknownCheckIsRefused) {
  const std::array only{std::string("gpu_clock")};
  EXPECT_ERROR(AllOf(HasSubstr("doctor: there is no check 'gpu_clock'"), HasSubstr("gpu_clocks")),
               check_machine(sources_, only));
}

TEST_F(DoctorTest, AMachineThatShowsNothingIsUnknownAndNoError) {
  take_gpu_away();
  sources_.gpus = {{"gpu:0", nvml_.bus_id}};
  for (const char* const name : {"sys", "proc", "bin"}) remove(name);
  sources_.look_at_load = [] { return Contention{}; };
  sources_.processors = {};
  for (const CheckResult& one : check_machine(sources_)) {
    if (one.name.starts_with("gpu_") || one.name == "load" || one.name == "cpu_limit" || one.name == "memory_limit") {
      EXPECT_EQ(one.state, CheckState::unknown) << one.name << ": " << one.found;
    }
    EXPECT_NE(one.found, "") << one.name;
  }
  EXPECT_THAT(result("memory_limit").found, HasSubstr("/proc/meminfo cannot be read: No such file"));
  EXPECT_THAT(result("gpu_link").found, HasSubstr("libnvidia-ml.so.1: no such file"));
}

TEST_F(DoctorTest, FilesThatAreCutOrHoldNonsenseAreUnknownAndNoError) {
  for (const char* const text : {"", "\n", "x", "0-", "-1", "99999999999999999999", "0-99999999", "\xff\xfe\x00"}) {
    for (const char* const name :
         {"proc/meminfo", "sys/devices/system/cpu/online", "proc/driver/nvidia/version", "proc/self/cgroup",
          "sys/bus/pci/devices/0000:1b:00.0/local_cpulist", "sys/bus/pci/devices/0000:1b:00.0/max_link_width",
          "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "sys/fs/cgroup/job/cpu.max",
          "sys/fs/cgroup/job/memory.max", "proc/self/limits"}) {
      put(name, text);
    }
    for (const CheckResult& one : check_machine(sources_)) EXPECT_NE(one.found, "") << one.name;
    EXPECT_EQ(result("cpu_limit").state, CheckState::unknown) << text;
    EXPECT_EQ(result("memory_limit").state, CheckState::unknown) << text;
    EXPECT_EQ(result("gpu_numa").state, CheckState::unknown) << text;
  }
}

TEST_F(DoctorTest, FoldersInPlaceOfFilesAreUnknown) {
  for (const char* const name : {"proc/meminfo", "sys/devices/system/cpu/online"}) {
    remove(name);
    std::filesystem::create_directories(file(name));
  }
  EXPECT_EQ(state_of("memory_limit"), "unknown: /proc/meminfo cannot be read: Is a directory");
  EXPECT_EQ(state_of("cpu_limit"), "unknown: /sys/devices/system/cpu/online cannot be read: Is a directory");
}

TEST_F(DoctorTest, FilesWithoutTheRightToReadAreUnknown) {
  std::filesystem::permissions(file("proc/meminfo"), std::filesystem::perms::none);
  const bool root = ::geteuid() == 0;
  if (root) {
    std::filesystem::permissions(file(""), std::filesystem::perms::all);
    ASSERT_EQ(::seteuid(65534), 0);
  }
  const std::string state = state_of("memory_limit");
  if (root) {
    ASSERT_EQ(::seteuid(0), 0);
  }
  EXPECT_EQ(state, "unknown: /proc/meminfo cannot be read: Permission denied");
}

TEST_F(DoctorTest, ADriverThatFailsHalfWayLeavesTheRestUnknown) {
  nvml_.unsupported = {"memory",          "clock",       "max_clock",          "power_limit",      "throttle_reasons",
                       "pcie_generation", "ecc_errors",  "compute_processes",  "persistence_mode", "cuda_version",
                       "device_count",    "temperature", "default_power_limit"};
  for (const char* const name :
       {"gpu_sharing", "gpu_throttling", "gpu_clocks", "gpu_persistence", "gpu_link", "gpu_errors"}) {
    EXPECT_THAT(state_of(name), testing::StartsWith("unknown: the driver does not report")) << name;
  }
  EXPECT_EQ(state_of("driver"), "ok: 580.65.06");
  nvml_.unsupported.insert("driver_version");
  EXPECT_THAT(state_of("driver"), HasSubstr("unknown: "));
}

TEST(CheckStates, HaveTheirNames) {
  EXPECT_EQ(to_string(CheckState::costs_speed), "costs speed");
  EXPECT_EQ(to_string(CheckState::wrong), "wrong");
}

TEST(OwnMachine, IsCheckedWithoutAnError) {
  MachineSources sources = machine_sources();
  sources.look_at_load = [] { return Contention{}; };
  for (const CheckResult& one : check_machine(sources)) EXPECT_NE(one.found, "") << one.name;
}

}  // namespace
}  // namespace gpubench
