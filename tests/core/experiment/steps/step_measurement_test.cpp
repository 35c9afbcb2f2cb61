#include "core/experiment/steps/step_measurement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>
#include <vector>

#include "core/results/cell.h"

namespace gpubench {
namespace {

/// An input that has so many elements ready at first, and then as many as are left behind after each step.
class BufferedSteps final : public StepSource {
 public:
  BufferedSteps(std::int64_t ready, std::int64_t least) : ready_(ready), least_(least) {}

  void step() override {
    ready_ = std::max(ready_ - 1, least_);
    fetched_ = Clock::now();
    if (measured) seen.push_back(ready_);
  }
  std::int64_t examples() const override { return 1; }
  Clock::time_point fetched() const override { return fetched_; }
  std::int64_t ready_elements() override { return ready_; }
  void reset_figures() override { measured = true; }

  bool measured = false;
  std::vector<std::int64_t> seen;

 private:
  std::int64_t ready_, least_;
  Clock::time_point fetched_{};
};

StepMeasurement measure_briefly(StepSource& steps) {
  Devices devices{DeviceConfig{}};
  Runtime runtime{devices};
  StepLimits limits;
  limits.stopping.budget = limits.stopping.min_time = Seconds(0.001);
  limits.warmup.max_time = limits.warmup.window_time = Seconds(1e-9);
  limits.warmup.window_steps = 1;
  return measure_steps(steps, runtime, limits, "test");
}

std::vector<std::int64_t> ready_while_measured(BufferedSteps steps) {
  measure_briefly(steps);
  return steps.seen;
}

TEST(StepMeasurement, BeginsWhenAnInputThatIsTooSlowHasUsedUpItsBuffers) {
  EXPECT_THAT(ready_while_measured({10'000, 0}), testing::AllOf(testing::Not(testing::IsEmpty()), testing::Each(0)));
}

TEST(StepMeasurement, LeavesBuffersAloneThatStayFull) {
  EXPECT_THAT(ready_while_measured({64, 64}), testing::AllOf(testing::Not(testing::IsEmpty()), testing::Each(64)));
}

/// Counts the steps since the figures began, which empties the devices.
class QueuedSteps final : public StepSource {
 public:
  void step() override {
    ++since_figures;
    fetched_ = Clock::now();
  }
  std::int64_t examples() const override { return 1; }
  Clock::time_point fetched() const override { return fetched_; }
  int steps_in_flight() const override { return 2; }
  void reset_figures() override { since_figures = 0; }
  std::int64_t since_figures = 0;

 private:
  Clock::time_point fetched_{};
};

TEST(StepMeasurement, FillsTheDevicesAfterTheFiguresBegan) {
  QueuedSteps steps;
  const StepMeasurement measured = measure_briefly(steps);
  EXPECT_EQ(steps.since_figures, std::ssize(measured.samples) + steps.steps_in_flight());
}

TEST(IntervalDoubt, NamesWhatIsKnownTooLittle) {
  EXPECT_FALSE(interval_doubt({1, {0.99, 1.01}}, Scatter::judged));
  const Doubt wide = interval_doubt({1, {0.8, 1.1}}, Scatter::judged);
  EXPECT_EQ(wide.kind, DoubtKind::scatter);
  EXPECT_EQ(wide.text, "the median is known to 20 % only");
  EXPECT_EQ(interval_doubt({1, {0.9, 1.3}}, Scatter::judged, "mean time between answers").text,
            "the mean time between answers is known to 30 % only");
  constexpr double unbounded = std::numeric_limits<double>::infinity();
  EXPECT_EQ(interval_doubt({1, {-unbounded, unbounded}}, Scatter::judged).kind, DoubtKind::few_samples);
  EXPECT_FALSE(interval_doubt({1, {0.8, 1.1}}, Scatter::of_rounds)) << "judged by whoever measures the rounds";
}

constexpr std::string_view rate = "examples_per_s";

TEST(SetRate, TurnsTheIntervalOfTheTimeAround) {
  Record record;
  set_rate(record, rate, 8, {0.5, {0.25, 1}});
  EXPECT_EQ(number_in(record.get("examples_per_s")), 16);
  EXPECT_EQ(number_in(record.get("examples_low_per_s")), 8);
  EXPECT_EQ(number_in(record.get("examples_high_per_s")), 32);
}

TEST(SetRate, LeavesAnIntervalThatKnowsNoBoundsEmpty) {
  for (const Interval& interval : {Interval{-0.1, 1}, Interval{0, std::numeric_limits<double>::infinity()}}) {
    Record record;
    set_rate(record, rate, 8, {0.5, interval});
    EXPECT_EQ(number_in(record.get("examples_per_s")), 16);
    EXPECT_FALSE(record.has("examples_low_per_s"));
    EXPECT_FALSE(record.has("examples_high_per_s"));
  }
}

}  // namespace
}  // namespace gpubench
