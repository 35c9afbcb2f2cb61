#include "core/experiment/kernels/kernels.h"

#include <array>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/backend/emulated/emulated_backend.h"
#include "core/backend/registry/devices.h"
#include "core/base/interrupt.h"
#include "core/device/device.h"
#include "core/experiment/kernels/matmul_peak.h"
#include "tests/core/experiment/declared.h"
#include "tests/support/device_configs.h"
#include "tests/support/expect_error.h"

namespace gpubench {
namespace {

class KernelsTest : public testing::Test {
 protected:
  const Backend& backend() const { return devices_.backend(id()); }
  Device& device() const { return devices_.device(id()); }
  const DeviceId& id() const { return devices_.default_device(); }

  Devices devices_{support::cpu_devices({{.threads = 1}})};
};

TEST_F(KernelsTest, GivesARowPerCase) {
  const std::array cases = {
      matmul_case({64, 32, 16}, Dtype::f32), matmul_case({64, 64, 64}, Dtype::bf16), matmul_case({8, 8, 8}, Dtype::f16),
      conv2d_case({.batch = 2, .height = 8, .width = 8, .channels = 3, .filters = 4}, Dtype::f32)};
  const auto results = measure_kernels(cases, backend(), device(), Seconds(0.3));
  ASSERT_EQ(results.size(), 4U);
  for (const KernelMeasurement& result : results) {
    const Record row = to_record(result, id(), 1e15);
    expect_declared(row, "kernels");
    EXPECT_GT(std::get<std::int64_t>(row.get("steps")), 0);
    EXPECT_GT(std::get<double>(row.get("step_time_s")), 0);
    EXPECT_LE(std::get<double>(row.get("step_time_low_s")), std::get<double>(row.get("step_time_s")));
    EXPECT_GE(std::get<double>(row.get("step_time_high_s")), std::get<double>(row.get("step_time_s")));
    EXPECT_LT(std::get<double>(row.get("mfu")), 1);
    EXPECT_GT(std::get<double>(row.get("bytes_per_s")), 0);
  }
  EXPECT_EQ(results[0].flops, 2.0 * 64 * 32 * 16);
  EXPECT_EQ(results[3].flops, 2.0 * 2 * 6 * 6 * 3 * 3 * 3 * 4);
  EXPECT_EQ(std::get<std::string>(to_record(results[0], id(), {}).get("shape")), "64x32x16");
  EXPECT_FALSE(to_record(results[0], id(), {}).has("mfu"));
  EXPECT_EQ(device().memory().use().in_use, 0U);
}

TEST_F(KernelsTest, RefusesWhatCannotBeMeasured) {
  EXPECT_ERROR("measure.kernels: there is nothing to measure; give at least one matmul or conv2d",
               measure_kernels({}, backend(), device(), Seconds(1)));
  EXPECT_ERROR("measure.kernels: matmul: n must be at least 1, got 0", matmul_case({64, 0, 64}, Dtype::f32));
  EXPECT_ERROR("matmul: int64[4, 4] is not floating-point; cast it to float32", matmul_case({4, 4, 4}, Dtype::i64));
  EXPECT_ERROR(testing::HasSubstr("a window of 3 does not fit into 2"),
               conv2d_case({.batch = 1, .height = 2, .width = 2, .channels = 1, .filters = 1}, Dtype::f32));
}

TEST_F(KernelsTest, AnInterruptEndsTheMeasuring) {
  const std::array cases = {matmul_case({64, 64, 64}, Dtype::f32)};
  request_interrupt();
  EXPECT_THROW(measure_kernels(cases, backend(), device(), Seconds(60)), Interrupted);
  clear_interrupt();
}

TEST_F(KernelsTest, ThePeakIsMeasuredOnce) {
  MatmulPeak peak;
  const auto first = peak.flops_per_s(device(), backend(), Dtype::f32);
  EXPECT_GT(first, 1e8);
  EXPECT_EQ(peak.flops_per_s(device(), backend(), Dtype::f32), first);
  EXPECT_EQ(device().memory().use().reserved, 0U);
}

TEST_F(KernelsTest, ThePeakOfAnEmulatedDeviceFollowsFromItsProfile) {
  MatmulPeak peak;
  const auto rate_of = [&](double flops_per_s) {
    EmulatedOptions options;
    options.custom = known_profile("h200").profile;
    options.custom->name = "custom";
    options.custom->ramp_s = options.custom->kernel_s = 0;
    options.custom->float32_flops_per_s = flops_per_s;
    EmulatedBackend emulated(BackendConfig{.options = options});
    Device& custom = *emulated.named(parse_device_id("emulated:custom:0"));
    return peak.flops_per_s(custom, emulated, Dtype::f32).value_or(0);
  };
  constexpr double slow = 1e6, fast = 1e12;  // measured, a product of 8192 would take 12 days on the slow one
  EXPECT_NEAR(rate_of(slow) / slow, 1, 1e-3);
  EXPECT_NEAR(rate_of(fast) / fast, 1, 1e-3) << "a profile of the same name";
}

TEST_F(KernelsTest, ADeviceWithoutRoomHasNoPeak) {
  constexpr std::size_t limit = std::size_t{6} << 20;  // one operand of 4 MiB fits
  const Devices small(support::cpu_devices({{.memory = {.limit = limit}, .threads = 1}}));
  MatmulPeak peak;
  EXPECT_EQ(peak.flops_per_s(small.device(id()), small.backend(id()), Dtype::f32), std::nullopt);
  EXPECT_TRUE(peak.known().empty());
  EXPECT_EQ(small.device(id()).memory().use().reserved, 0U);
}

}  // namespace
}  // namespace gpubench
