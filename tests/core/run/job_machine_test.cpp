#include "core/run/job_machine.h"

#include <gmock/gmock.h>

#include "tests/core/telemetry/nvml/fake_nvml.h"

namespace gpubench {
namespace {

using testing::HasSubstr;

/// A job that wanted 8 processors for 10 s and got 6 of them.
JobUse disturbed_use() {
  JobUse use;
  use.seconds = 10;
  use.processes = {{.process = 1, .cpu_s = 60, .delayed_s = 20}};
  use.processors_s = 80;
  use.others_s = 15;
  use.stolen_s = 5;
  return use;
}

TEST(JobMachine, TellsOfOtherProgramsAndOfAQuota) {
  JobUse use = disturbed_use();
  use.throttled_s = 2.5;
  const Info::List facts = machine_facts(use, {});
  ASSERT_EQ(facts.size(), 2U);
  EXPECT_EQ(facts[0].text("name"), "other programs");
  EXPECT_THAT(facts[0].text("found"), HasSubstr("other programs or the hypervisor used 2.0 processors"));
  EXPECT_EQ(facts[1].text("name"), "control group");
  EXPECT_THAT(facts[1].text("found"), HasSubstr("the processors stood still 25 % of the time"));
}

TEST(JobMachine, TellsOfGpusThatWereSlowedDownOrShared) {
  support::FakeNvml driver;
  JobGpu gpu{.sensors = GpuSensors(driver.open(), driver.bus_id), .name = "gpu:0", .readings = 8};
  EXPECT_TRUE(machine_facts({}, {&gpu, 1}).empty());
  gpu.throttled = 2;
  gpu.lowest_sm_clock_hz = 9e8;
  gpu.others = {{.process = {.pid = 17, .memory_bytes = {}}, .name = "python3"}};
  const Info::List facts = machine_facts({}, {&gpu, 1});
  ASSERT_EQ(facts.size(), 2U);
  EXPECT_THAT(facts[0].text("found"), HasSubstr("at 2 of 8 readings: multiprocessors at 900 MHz at the lowest"));
  EXPECT_THAT(facts[1].text("found"), HasSubstr("gpu:0 is shared with python3 (process 17)"));
}

}  // namespace
}  // namespace gpubench
