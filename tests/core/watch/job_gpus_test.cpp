#include "core/watch/job_gpus.h"

#include <chrono>
#include <filesystem>
#include <gtest/gtest.h>

#include "tests/core/telemetry/nvml/fake_nvml.h"

namespace gpubench {
namespace {

using namespace std::chrono_literals;

NvmlProcess process(unsigned pid) {
  return {.pid = pid, .used_memory = 1ULL << 30, .gpu_instance = 0, .compute_instance = 0};
}

struct GpusOfAJob : testing::Test {
  support::FakeNvml driver;
  std::vector<std::string> ids{driver.bus_id};
  JobGpus gpus{{driver.open(), ""}, ids};
  std::vector<int> job{70, 71};
  Clock::time_point now{};

  void read() { gpus.read(job, now += 1s); }
};

TEST_F(GpusOfAJob, OnlyThoseThatItComputesOnCount) {
  driver.processes = {process(5)};
  read();
  EXPECT_TRUE(gpus.used().empty());
  driver.processes = {process(5), process(71)};
  read();
  ASSERT_EQ(1U, gpus.used().size());
  EXPECT_EQ(1U, gpus.used()[0].readings);
}

TEST_F(GpusOfAJob, SlowdownsAreCountedAndThePowerLimitIsNone) {
  constexpr unsigned long long thermal = 0x40, power_limit = 0x4;
  driver.processes = {process(70)};
  for (const unsigned long long reasons : {power_limit, thermal, 0ULL}) {
    driver.throttle_reasons = reasons;
    driver.sm_clock_mhz = reasons == thermal ? 1200 : 1755;
    read();
  }
  const JobGpu gpu = gpus.used().at(0);
  EXPECT_EQ(3U, gpu.readings);
  EXPECT_EQ(1U, gpu.throttled);
  EXPECT_EQ(thermal, gpu.reasons);
  EXPECT_EQ(1200e6, gpu.lowest_sm_clock_hz);
  EXPECT_EQ(61, gpu.highest_temperature_c);
}

TEST_F(GpusOfAJob, OthersAreNamedOnceAndTheJobsOwnAreNone) {
  driver.processes = {process(70), process(71), process(5)};
  read();
  read();
  const JobGpu gpu = gpus.used().at(0);
  ASSERT_EQ(1U, gpu.others.size());
  EXPECT_EQ(5U, gpu.others[0].process.pid);
}

TEST_F(GpusOfAJob, AreReadOnceASecond) {
  driver.processes = {process(70)};
  read();
  gpus.read(job, now + 500ms);
  EXPECT_EQ(1U, gpus.used()[0].readings);
}

TEST_F(GpusOfAJob, AnUnknownOneAndADriverThatTellsNothingAreLeftOut) {
  const std::vector<std::string> unknown{"00000000:99:00.0"};
  JobGpus none({driver.open(), ""}, unknown);
  none.read(job);
  EXPECT_TRUE(none.used().empty());
  JobGpus without({nullptr, "no library"}, ids);
  without.read(job);
  EXPECT_TRUE(without.used().empty());
  driver.unsupported = {"compute_processes"};
  read();
  EXPECT_TRUE(gpus.used().empty());
}

TEST(BusIds, AreTheNamesOfTheDriversFolders) {
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / "gpus";
  std::filesystem::create_directories(folder / "0000:1b:00.0");
  std::filesystem::create_directories(folder / "0000:0a:00.0");
  EXPECT_EQ((std::vector<std::string>{"0000:0a:00.0", "0000:1b:00.0"}), JobGpus::bus_ids(folder));
  EXPECT_TRUE(JobGpus::bus_ids(folder / "none").empty());
}

}  // namespace
}  // namespace gpubench
