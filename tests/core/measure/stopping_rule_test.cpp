#include "core/measure/stopping_rule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <vector>

#include "tests/core/measure/series.h"
#include "tests/support/expect_error.h"

namespace gpubench {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(StoppingRule, EndsAtTheLeastTimeWhenPrecise) {
  StoppingRule rule({.relative_error = 0.01, .min_time = Seconds(0.3), .budget = Seconds(2)});
  int steps = 1;
  while (!rule.add(0.001)) ++steps;
  EXPECT_NEAR(steps, 300, 1);
  EXPECT_EQ(rule.stop_reason(), StopReason::precise);
  EXPECT_THAT(rule.reason(), StartsWith("precise: 95 % interval within 0 % of the median after 30"));
}

TEST(StoppingRule, EndsWithTheBudgetWhenNoisy) {
  const auto series = lognormal_series(10000, 0.9, 1.0, 7);
  StoppingRule rule({.relative_error = 0.01, .min_time = Seconds(0.3), .budget = Seconds(2)});
  std::size_t at = 0;
  while (!rule.add(series[at])) ++at;
  EXPECT_EQ(rule.stop_reason(), StopReason::budget);
  EXPECT_GE(rule.measured().count(), 2);
  EXPECT_EQ(rule.samples().size(), at + 1);
  EXPECT_THAT(rule.reason(), StartsWith("budget: 95 % interval within "));
}

TEST(StoppingRule, SaysWhenStepsAreTooFewForAnInterval) {
  StoppingRule rule({.relative_error = 0.01, .min_time = Seconds(0.3), .budget = Seconds(2)});
  while (!rule.add(0.9)) {
  }
  EXPECT_EQ(rule.reason(), "budget: too few steps for an interval after 3 steps in 2.7 s");
}

TEST(StoppingRule, KeepsEverySampleWithoutAllocating) {
  StoppingRule rule({.relative_error = 1e-9, .min_time = Seconds(0.3), .budget = Seconds(2)});
  const double* first = nullptr;
  bool done = false;
  for (double step = 1.0; !done; step += 1e-3) {
    done = rule.add(step * 1e-4);
    if (!first) first = rule.samples().data();
  }
  EXPECT_EQ(rule.samples().data(), first);
}

TEST(StoppingRule, JudgesAnewWhatIsLeft) {
  StoppingRule rule({.relative_error = 0.01, .min_time = Seconds(0.3), .budget = Seconds(2)});
  while (!rule.add(0.001)) {
  }
  EXPECT_EQ(rule.trim(100), StopReason::precise);
  EXPECT_EQ(rule.samples().size(), 100U);
  EXPECT_NEAR(rule.measured().count(), 0.1, 1e-9);
  EXPECT_EQ(rule.trim(3), StopReason::running);
  EXPECT_THAT(rule.reason(), StartsWith("running: 3 steps in 3 ms"));
}

TEST(StoppingRule, EndsWhenItsMemoryIsFull) {
  StoppingRule rule({.relative_error = 1e-9, .min_time = Seconds(0.001), .budget = Seconds(0.01)});
  double step = 1e-9;
  while (!rule.add(step)) step = step == 1e-9 ? 9e-7 : 1e-9;
  EXPECT_EQ(rule.stop_reason(), StopReason::full);
}

TEST(StoppingRule, ItsManyLooksKeepTheCoverage) {
  int covered = 0;
  constexpr int trials = 400;
  for (int trial = 0; trial < trials; ++trial) {
    const auto series = lognormal_series(4000, 0.5, 0.1, static_cast<std::uint64_t>(trial) + 100);
    StoppingRule rule({.relative_error = 0.01, .min_time = Seconds(0.3), .budget = Seconds(2)});
    std::size_t at = 0;
    while (!rule.add(series[at])) ++at;
    if (rule.estimate().interval.contains(1e-3)) ++covered;
  }
  EXPECT_GE(covered, 0.92 * trials);
}

TEST(StoppingRule, RefusesImpossibleLimits) {
  EXPECT_ERROR(HasSubstr("the relative error is 0; it must be above 0"), StoppingRule({.relative_error = 0}));
  EXPECT_ERROR(
      "measure: a min_time of 0.3 s is more than the budget of "
      "0.1 s; at most the budget is possible",
      StoppingRule({.budget = Seconds(0.1)}));
  EXPECT_ERROR("measure: a budget of -1 s and a min_time of 0.3 s; both must be above 0",
               StoppingRule({.budget = Seconds(-1)}));
  EXPECT_ERROR(HasSubstr("both must be above 0"), StoppingRule({.budget = Seconds(0)}));
  EXPECT_ERROR("measure: a budget of 2 s and a min_time of 0 s; both must be above 0",
               StoppingRule({.min_time = Seconds(0)}));
}

TEST(Pace, AProcessOfItsOwnDecidesEachStep) {
  const Agreement alone;
  Pace pace(alone);
  EXPECT_TRUE(pace.more(true));
  EXPECT_FALSE(pace.more(false));
}

TEST(Pace, TheFirstProcessDecidesForAll) {
  std::vector<std::int64_t> asked;
  std::vector<std::int64_t> said{2, 3, 0};
  const Agreement agreement = [&](std::int64_t own) {
    asked.push_back(own);
    return said[asked.size() - 1];
  };
  Pace pace(agreement);
  int steps = 0;
  while (pace.more(steps < 1)) ++steps;  // this one had enough after the first
  EXPECT_EQ(steps, 5);
  ASSERT_EQ(asked.size(), 3);
  EXPECT_EQ(asked[0], 1) << "nothing is known of the time of a step";
  EXPECT_EQ(asked[1], 0);
  EXPECT_EQ(asked[2], 0);
}

TEST(StoppingRule, AnActivityGetsTheEstimateOfEachCheck) {
  Activity activity;
  activity.begin(Phase::measuring);
  StoppingRule rule({.relative_error = 1e-9, .min_time = Seconds(1.0), .budget = Seconds(10.0), .activity = &activity});
  for (int step = 0; step < 9; ++step) rule.add(0.1 + 0.001 * (step % 3));
  EXPECT_EQ(activity.read().value, 0) << "before the least time";
  for (int step = 9; step < 11; ++step) rule.add(0.1 + 0.001 * (step % 3));
  EXPECT_NEAR(activity.read().value, 0.101, 1e-9);
  EXPECT_GT(activity.read().relative_error, 0);
  EXPECT_EQ(activity.read().phase, Phase::measuring);
  activity.begin(Phase::tracing);
  EXPECT_EQ(activity.read().value, 0);
}

}  // namespace

}  // namespace gpubench
