#include <array>
#include <cmath>
#include <fmt/format.h>
#include <fstream>
#include <gtest/gtest.h>
#include <memory>
#include <span>
#include <thread>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/telemetry/proc/contention.h"
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
  static const Fact* fact(const Facts& facts, const std::string& name) {
    for (const auto& [key, value] : facts) {
      if (key == name) return &value;
    }
    return nullptr;
  }

  std::filesystem::path root_ = std::filesystem::path(::testing::TempDir()) / ("proc_" + std::to_string(::getpid()));
};

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

constexpr Contention two_processors_for_a_second{.wall_s = 1, .processors = 2, .cpu_s = 1.5};

TEST(Contention, LosesWhatOthersRanWhileItsThreadsWaited) {
  Contention one = two_processors_for_a_second;
  EXPECT_EQ(one.lost_share(), std::nullopt) << "nothing is known";
  one.delayed_s = 0.5, one.others_s = 0.52;
  EXPECT_DOUBLE_EQ(*one.lost_share(), 0.25);
  one.others_s = 0;
  EXPECT_DOUBLE_EQ(*one.lost_share(), 0) << "its threads waited for each other";
  one.others_s = 0.12;
  EXPECT_DOUBLE_EQ(*one.lost_share(), 0.1 / 1.6) << "/proc/stat counts whole ticks";
  one.stolen_s = 0.4;
  EXPECT_DOUBLE_EQ(*one.lost_share(), 0.5 / 2.0);
  EXPECT_DOUBLE_EQ(*one.stolen_share(), 0.2);
  EXPECT_DOUBLE_EQ(*one.others_share(), 0.06);
}

TEST(Contention, OfAnIdleProcessNothingIsLost) {
  Contention one;
  one.delayed_s = 0, one.stolen_s = 0;
  EXPECT_EQ(one.lost_share(), 0);
}

/// Time that passes when the test says so.
class Steps final : public Ticker {
 public:
  Clock::time_point now() const override { return now_; }
  bool wait_until(Clock::time_point /*time*/, const std::stop_token& stop) override {
    while (!stop.stop_requested()) std::this_thread::yield();
    return false;
  }
  void pass(Seconds time) { now_ += std::chrono::duration_cast<Clock::duration>(time); }

 private:
  Clock::time_point now_{};
};

TEST_F(Proc, DelaysOfThreadsAreSummedWhetherTheyLiveOrNot) {
  const auto thread = [&](const char* id, long nanoseconds) {
    std::filesystem::create_directories(root_ / "proc/self/task" / id);
    write(std::string("proc/self/task/") + id + "/schedstat", fmt::format("5 {} 7\n", nanoseconds));
  };
  const auto clock = std::make_shared<Steps>();
  thread("1", 100'000'000);
  thread("2", 200'000'000);
  write("proc/stat", "cpu  1000 0 0 1000 0 0 0 10 0 0\n");
  write("proc/self/status", "nonvoluntary_ctxt_switches:\t2\n");
  std::filesystem::create_directories(root_ / "sys/devices/system/cpu/cpu0/cpufreq");
  write("sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", "2500000\n");
  ContentionWatch watch(root_, clock);
  EXPECT_FALSE(watch.watches());
  watch.begin();
  thread("1", 150'000'000);
  thread("3", 40'000'000);
  EXPECT_NEAR(*watch.so_far().delayed_s, 0.09, 1e-9);
  std::filesystem::remove_all(root_ / "proc/self/task/3");
  thread("2", 1'000'000);  // another thread by the number of one that has ended
  write("proc/stat", "cpu  1200 0 0 1200 0 0 0 14 0 0\n");
  write("proc/self/status", "nonvoluntary_ctxt_switches:\t9\n");
  clock->pass(Seconds(2));
  const Contention seen = watch.end();
  EXPECT_NEAR(*seen.delayed_s, 0.091, 1e-9);
  EXPECT_NEAR(*seen.stolen_s, 4.0 / static_cast<double>(::sysconf(_SC_CLK_TCK)), 1e-9);
  EXPECT_NEAR(*seen.others_s, 200.0 / static_cast<double>(::sysconf(_SC_CLK_TCK)), 0.1);
  EXPECT_EQ(seen.involuntary_switches, 7);
  EXPECT_EQ(seen.clock_hz, 2.5e9);
  EXPECT_EQ(seen.wall_s, 2);
  EXPECT_FALSE(watch.watches());
}

TEST_F(Proc, WhatTheKernelDoesNotTellIsAbsent) {
  ContentionWatch watch(root_);
  watch.begin();
  const Contention seen = watch.end();
  EXPECT_EQ(seen.delayed_s, std::nullopt);
  EXPECT_EQ(seen.others_s, std::nullopt);
  EXPECT_EQ(seen.clock_hz, std::nullopt);
  EXPECT_EQ(seen.lost_share(), std::nullopt);
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
  const Facts facts = machine_facts(root_);
  EXPECT_EQ(*fact(facts, "operating_system"), Fact("Debian 12"));
  EXPECT_EQ(*fact(facts, "cpu_model"), Fact("Fast CPU"));
  EXPECT_EQ(*fact(facts, "cpu_mhz"), Fact(2400.5));
  EXPECT_EQ(*fact(facts, "cpu_governor"), Fact("performance"));
  EXPECT_EQ(*fact(facts, "virtual_machine"), Fact("yes"));
  EXPECT_EQ(*fact(facts, "memory_bytes"), Fact(std::int64_t{2048}));
  EXPECT_EQ(*fact(facts, "load_1min"), Fact(0.25));
}

TEST_F(Proc, FactsThatAreMissingAreAbsent) {
  const Facts facts = machine_facts(root_ / "nowhere");
  EXPECT_EQ(fact(facts, "cpu_model"), nullptr);
  EXPECT_EQ(fact(facts, "memory_bytes"), nullptr);
  EXPECT_NE(fact(facts, "cpus"), nullptr);
}

}  // namespace
}  // namespace gpubench
