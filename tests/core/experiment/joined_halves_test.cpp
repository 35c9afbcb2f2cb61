#include "core/experiment/joined_halves.h"

#include <gmock/gmock.h>

namespace gpubench {
namespace {

TrainingMeasurement half(std::size_t steps, double step, double wait_share, std::int64_t memory) {
  TrainingMeasurement measured;
  measured.samples.assign(steps, step);
  set_step_times(measured.record, measured.samples, 32, "");
  measured.record.set("warmup_s", 0.1);
  measured.record.set("input_wait_share", wait_share);
  measured.record.set("peak_memory_bytes", memory);
  measured.record.set("flops_per_step", 1e6);
  set_flop_rates(measured.record, estimate_mean(measured.samples), 1e9);
  measured.record.set("loss", step);
  measured.record.set("stop_reason", std::string("precise"));
  return measured;
}

TEST(JoinedHalves, MakeEveryFigureTogether) {
  const TrainingMeasurement both = joined_halves(half(100, 0.001, 0.2, 5), half(300, 0.003, 0.4, 3), {});
  const auto number = [&](const char* column) { return *number_in(both.record.get(column)); };
  EXPECT_EQ(both.samples.size(), 400U);
  EXPECT_EQ(number("steps"), 400);
  EXPECT_NEAR(number("examples_per_s"), 32 * 400 / (0.1 + 0.9), 1e-6);
  EXPECT_EQ(number("step_time_s"), 0.003);
  EXPECT_NEAR(number("input_wait_share"), (0.1 * 0.2 + 0.9 * 0.4), 1e-9);  // of the time
  EXPECT_NEAR(number("loss"), (100 * 0.001 + 300 * 0.003) / 400, 1e-9);    // of the steps
  EXPECT_NEAR(number("flops_per_s"), 1e6 * 400, 1e-3);
  EXPECT_NEAR(number("warmup_s"), 0.2, 1e-12);
  EXPECT_EQ(number("peak_memory_bytes"), 5);
  EXPECT_EQ(std::get<std::string>(both.record.get("stop_reason")), "precise; precise");
}

TEST(JoinedHalves, AreInDoubtWhereEitherIs) {
  TrainingMeasurement second = half(100, 0.001, 0, 1);
  second.doubt = second.input_doubt = "31 % came from buffers";
  const TrainingMeasurement both = joined_halves(half(100, 0.001, 0, 1), second, {});
  EXPECT_EQ(std::get<std::string>(both.record.get("quality")), "unreliable: 31 % came from buffers");
  EXPECT_EQ(both.input_doubt, "31 % came from buffers");
  EXPECT_EQ(
      std::get<std::string>(joined_halves(half(100, 0.001, 0, 1), half(100, 0.001, 0, 1), {}).record.get("quality")),
      "ok");
}

TEST(JoinedHalves, HaveTheIntervalOfAllSamples) {
  // Each half is precise, and they differ.
  const TrainingMeasurement both = joined_halves(half(100, 0.001, 0, 1), half(100, 0.002, 0, 1), {});
  EXPECT_THAT(std::get<std::string>(both.record.get("quality")),
              ::testing::StartsWith("unreliable: the median is known"));
}

}  // namespace
}  // namespace gpubench
