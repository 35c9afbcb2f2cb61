#include <array>
#include <cmath>
#include <fstream>
#include <gtest/gtest.h>
#include <span>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/telemetry/proc/environment.h"
#include "core/telemetry/proc/proc_file.h"
#include "core/telemetry/proc/process_probes.h"

namespace gpubench {
namespace {

// A process file system of our own in a temporary directory.
class Proc : public ::testing::Test {
 protected:
  Proc() { std::filesystem::create_directories(root_ / "proc/self"); }
  ~Proc() override { std::filesystem::remove_all(root_); }

  void write(const std::string& path, const std::string& text) const { std::ofstream(root_ / path) << text; }
  void write_cpu(int busy_ticks, int idle_ticks) const {
    write("proc/stat", "cpu  " + std::to_string(busy_ticks) + " 0 0 " + std::to_string(idle_ticks) + " 0 0 0 0 0 0\n");
  }
  static const Fact* fact(const MachineFacts& facts, const std::string& name) {
    for (const auto& [key, value] : facts) {
      if (key == name) return &value;
    }
    return nullptr;
  }

  std::filesystem::path root_ = std::filesystem::path(::testing::TempDir()) / ("proc_" + std::to_string(::getpid()));
};

TEST(ProcFile, ThatCannotBeReadIsEmpty) {
  EXPECT_EQ(read_small_file("/nowhere"), "");
  EXPECT_EQ(read_small_file("/proc"), "") << "a folder";
  EXPECT_EQ(read_small_file("/proc/self/mem"), "") << "it opens, and address 0 cannot be read";
}

TEST_F(Proc, FieldsAreFoundByTheirWholeName) {
  const std::string text = "VmHWMx:\t1 kB\nVmHWM:\t  12 kB\nmodel name\t: A B \n";
  EXPECT_EQ(field_after(text, "VmHWM"), "12 kB");
  EXPECT_EQ(field_after(text, "model name"), "A B");
  EXPECT_EQ(bytes_after(text, "VmHWM"), 12288);
  EXPECT_FALSE(bytes_after(text, "VmRSS"));
}

TEST_F(Proc, CpuSharesAreOfTheTimeBetweenReadings) {
  write_cpu(1000, 1000);
  write("proc/self/status", "voluntary_ctxt_switches:\t5\nnonvoluntary_ctxt_switches:\t2\n");
  CpuProbe probe(root_ / "proc");
  write_cpu(1080, 1120);
  std::array<double, 4> values{};
  probe.read(values);
  EXPECT_NEAR(values[1], 0.4, 1e-9);
  EXPECT_EQ(values[2], 0);
  EXPECT_EQ(probe.columns().size(), values.size());
}

TEST_F(Proc, TheProcessCannotUseMoreThanItsThread) {
  CpuProbe probe;
  const Stopwatch watch;
  while (watch.elapsed() < Seconds(0.02)) {
  }
  std::array<double, 4> values{};
  probe.read(values);
  const auto cpus = static_cast<double>(::sysconf(_SC_NPROCESSORS_ONLN));
  EXPECT_GT(values[0], 0);
  EXPECT_LT(values[0] * cpus, 1.05) << "finer than the kernel's ticks of 10 ms";
}

TEST_F(Proc, WhatCannotBeReadIsNotANumber) {
  CpuProbe cpu(root_ / "proc");
  std::array<double, 4> shares{};
  cpu.read(shares);
  for (const double share : std::span(shares).subspan(1)) EXPECT_TRUE(std::isnan(share));
  std::array<double, 2> bytes{};
  MemoryProbe(root_ / "proc").read(bytes);
  for (const double value : bytes) EXPECT_TRUE(std::isnan(value));
}

TEST_F(Proc, MemoryIsInBytes) {
  write("proc/self/status", "VmHWM:\t  2048 kB\nVmRSS:\t  1024 kB\n");
  std::array<double, 2> bytes{};
  MemoryProbe(root_ / "proc").read(bytes);
  EXPECT_EQ(bytes[0], 1 << 20);
  EXPECT_EQ(bytes[1], 2 << 20);
}

TEST_F(Proc, TheRealProcessHasMemoryAndAPeakNoSmaller) {
  std::array<double, 2> bytes{};
  MemoryProbe().read(bytes);
  EXPECT_GT(bytes[0], 1 << 20);
  EXPECT_GE(bytes[1], bytes[0]);
}

TEST_F(Proc, MachineFactsComeFromTheirFiles) {
  std::filesystem::create_directories(root_ / "etc");
  std::filesystem::create_directories(root_ / "sys/devices/system/cpu/cpu0/cpufreq");
  write("etc/os-release", "NAME=x\nPRETTY_NAME=\"Debian 12\"\n");
  write("proc/cpuinfo", "processor : 0\nmodel name\t: Fast CPU\ncpu MHz\t\t: 2400.5\nflags\t\t: fpu hypervisor\n");
  write("proc/meminfo", "MemTotal: 2 kB\nMemAvailable: 1 kB\n");
  write("proc/loadavg", "0.25 0.5 0.7 1/2 3\n");
  write("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "performance\n");
  const MachineFacts facts = machine_facts(root_);
  EXPECT_EQ(*fact(facts, "operating_system"), Fact("Debian 12"));
  EXPECT_EQ(*fact(facts, "cpu_model"), Fact("Fast CPU"));
  EXPECT_EQ(*fact(facts, "cpu_mhz"), Fact(2400.5));
  EXPECT_EQ(*fact(facts, "cpu_governor"), Fact("performance"));
  EXPECT_EQ(*fact(facts, "virtual_machine"), Fact("yes"));
  EXPECT_EQ(*fact(facts, "memory_bytes"), Fact(std::int64_t{2048}));
  EXPECT_EQ(*fact(facts, "load_1min"), Fact(0.25));
}

TEST_F(Proc, FactsThatAreMissingAreAbsent) {
  const MachineFacts facts = machine_facts(root_ / "nowhere");
  EXPECT_EQ(fact(facts, "cpu_model"), nullptr);
  EXPECT_EQ(fact(facts, "memory_bytes"), nullptr);
  EXPECT_NE(fact(facts, "cpus"), nullptr);
}

}  // namespace
}  // namespace gpubench
