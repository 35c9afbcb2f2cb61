#include "core/telemetry/nvml/nvml.h"

#include <gmock/gmock.h>

#include "core/telemetry/nvml/gpu_sensors.h"
#include "tests/core/telemetry/nvml/fake_nvml.h"
#include "tests/support/expect_error.h"

namespace gpubench {
namespace {

using ::testing::HasSubstr;

TEST(Nvml, BusIdsHaveOneSpelling) {
  EXPECT_EQ(normal_bus_id("00000000:1B:00.0"), "00000000:1B:00.0");
  EXPECT_EQ(normal_bus_id("0000:1b:00.0"), "00000000:1B:00.0");
  EXPECT_EQ(normal_bus_id("1b:00.0"), "00000000:1B:00.0");
  EXPECT_EQ(normal_bus_id("00010000:A1:00.0"), "00010000:A1:00.0");
}

TEST(Nvml, FindsAGpuByAnySpellingOfItsBusId) {
  const support::FakeNvml fake;
  const auto nvml = fake.open();
  EXPECT_EQ(nvml->find("0000:1b:00.0"), nvml->find("00000000:1B:00.0"));
  EXPECT_EQ(nvml->driver_version(), "580.65.06");
  EXPECT_ERROR("NVML: the driver shows no GPU at 00000000:2C:00.0: Not Found", nvml->find("0000:2c:00.0"));
}

TEST(Nvml, IsShutDownOnceForEachTimeItWasOpened) {
  support::FakeNvml fake;
  {
    const auto first = fake.open(), second = fake.open();
    EXPECT_EQ(fake.opened, 2);
  }
  EXPECT_EQ(fake.opened, 0);
  fake.init_result = 9;
  EXPECT_ERROR_OF(DeviceError, HasSubstr("Driver Not Loaded"), fake.open());
  EXPECT_EQ(fake.opened, 0);
}

TEST(Nvml, IsThereOrSaysWhyNot) {
  const NvmlAccess access = open_nvml();
  EXPECT_EQ(access.nvml == nullptr, !access.reason.empty());
}

TEST(Throttle, ReasonsHaveWords) {
  EXPECT_EQ(throttle_words(0), "");
  EXPECT_EQ(throttle_words(0x01 | 0x02), "") << "idle and chosen clocks slow nothing down";
  EXPECT_EQ(throttle_words(0x04), "power limit");
  EXPECT_EQ(throttle_words(0x08 | 0x40), "hardware slowdown, hardware thermal slowdown");
  EXPECT_EQ(throttle_words(0x20 | 0x80), "thermal slowdown, power brake");
  EXPECT_EQ(throttle_words(0x10 | 0x100), "clocks tied to slower GPUs, display clocks");
}

TEST(Throttle, ThePowerLimitDoesNoHarm) {
  EXPECT_EQ(harmful(0x01 | 0x02 | 0x04 | 0x10 | 0x100), 0U);
  for (const std::uint64_t bit : {0x08, 0x20, 0x40, 0x80}) EXPECT_EQ(harmful(bit | 0x04), bit);
}

}  // namespace
}  // namespace gpubench
