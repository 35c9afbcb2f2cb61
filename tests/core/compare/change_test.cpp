#include "core/compare/change.h"

#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/core/compare/sides.h"

namespace gpubench {
namespace {

using ::testing::HasSubstr;

std::vector<ProcessFigures> figures(const std::vector<double>& values) {
  std::vector<ProcessFigures> all;
  for (const double value : values) all.push_back({value});
  return all;
}

Change judged(const std::string& column, const std::vector<double>& before, const std::vector<double>& after,
              const ChangeLimits& limits = {}) {
  Change change = measure_change(column_of(column), figures(before), figures(after), limits);
  change.false_discovery_rate = change.p.value_or(1);
  judge_change(change);
  return change;
}

std::string word(const Change& change) {
  return std::string(word_of(change.verdict, change.column));
}

TEST(Change, ALongerTimeIsSlower) {
  const Change change = judged("step_time_s", seven_around(1), seven_around(1.041));
  EXPECT_EQ(word(change), "SLOWER");
  EXPECT_EQ(text_of_change(change), "takes 4.1 % more time");
  EXPECT_TRUE(change.is_alarm());
  EXPECT_NEAR(*change.p, 2.0 / 3432, 1e-9);
  EXPECT_NEAR(change.false_positive_rate, 4.0 / 3432, 1e-9);
  EXPECT_EQ(change.threshold, 0.01);
  EXPECT_GT(*change.visible, 0.01);
  EXPECT_EQ(word(judged("step_time_s", seven_around(1.041), seven_around(1))), "FASTER");
}

TEST(Change, ALowerRateIsSlower) {
  const Change change = judged("examples_per_s", seven_around(100), seven_around(96));
  EXPECT_EQ(word(change), "SLOWER");
  EXPECT_EQ(text_of_change(change), "takes 4.2 % more time");
}

TEST(Change, WordsFollowUnitAndKind) {
  const auto text_of = [](const std::string& column, double before, double after) {
    const Change change = judged(column, seven_around(before), seven_around(after));
    return word(change) + ": " + text_of_change(change);
  };
  EXPECT_EQ(text_of("peak_memory_bytes", 1000, 1030), "MORE: takes 3.0 % more memory");
  EXPECT_EQ(text_of("power_w", 100, 90), "LESS: draws 10.0 % less power");
  EXPECT_EQ(text_of("test_accuracy", 0.92, 0.9), "WORSE: 2.0 points less accurate");
  EXPECT_EQ(text_of("loss", 1, 1.1), "WORSE: 10.0 % higher");
  EXPECT_EQ(text_of("launch_share", 0.1, 0.2), "WORSE: 10.0 points higher");
  EXPECT_EQ(text_of("throughput", 10, 12), "CHANGED: 20.0 % higher");
}

TEST(Change, CountedFiguresAreComparedExactly) {
  const Change equal = judged("kernels", {15}, {15});
  EXPECT_EQ(word(equal), "SAME");
  EXPECT_TRUE(equal.exact);
  EXPECT_EQ(text_of_change(equal), "equal");
  EXPECT_EQ(word(judged("kernels", {15}, {16})), "CHANGED");
  EXPECT_EQ(word(judged("wrong", {0}, {1})), "WORSE");
  EXPECT_EQ(text_of_change(judged("wrong", {0}, {1})), "more than the baseline's 0");
}

TEST(Change, FewProcessesAreInsufficientData) {
  const Change change = judged("step_time_s", {1, 1, 1}, {2, 2, 2, 2, 2, 2});
  EXPECT_EQ(word(change), "AMBIGUOUS");
  EXPECT_EQ(change.reason, "insufficient data: 3 and 6 processes; 7 a side are needed, so 5 more runs");
  EXPECT_EQ(change.processes_needed, 7u);
  EXPECT_EQ(change.false_positive_rate, 0);
  EXPECT_FALSE(change.visible);
}

TEST(Change, InsideTheThresholdIsTheSame) {
  const Change change = judged("step_time_s", seven_around(1), seven_around(1.002));
  EXPECT_EQ(word(change), "SAME");
  EXPECT_EQ(change.reason, "");
}

TEST(Change, NoiseRaisesTheThreshold) {
  // Quartiles at 0.9 and 1.1.
  const std::vector<double> noisy{0.8, 0.9, 0.9, 1.0, 1.1, 1.1, 1.2};
  const Change change = judged("step_time_s", noisy, noisy);
  EXPECT_NEAR(change.noise, 0.2, 1e-12);
  EXPECT_NEAR(change.threshold, 2.5 * 0.2 / std::sqrt(7.0), 1e-12);
}

TEST(Change, WhatCannotBeShownSaysHowManyProcessesWouldSettleIt) {
  const std::vector<double> before{0.98, 0.985, 0.99, 1, 1.01, 1.015, 1.02};
  std::vector<double> after = before;
  for (double& value : after) value *= 1.04;
  const Change change = judged("step_time_s", before, after);
  EXPECT_EQ(word(change), "AMBIGUOUS");
  ASSERT_TRUE(change.processes_needed);
  EXPECT_GT(*change.processes_needed, 7u);
  EXPECT_THAT(change.reason, HasSubstr("processes a side would settle it"));
}

TEST(Change, FiguresOfZeroHaveNoRatio) {
  const std::vector<double> zeros(7, 0.0), ones(7, 1.0);
  EXPECT_EQ(word(judged("wait_s", zeros, zeros)), "SAME");
  const Change change = judged("wait_s", zeros, ones);
  EXPECT_FALSE(change.log_ratio);
  EXPECT_EQ(word(change), "SLOWER");
  EXPECT_EQ(interval_text(change), "");
}

TEST(Change, CalibratedLimitsReplaceTheRule) {
  const ChangeLimits limits{.threshold = 0.05, .calibrated = true, .false_positive_rate = 0.0004, .visible = 0.08};
  const Change change = judged("step_time_s", seven_around(1), seven_around(1.04), limits);
  EXPECT_EQ(word(change), "SAME");
  EXPECT_EQ(change.false_positive_rate, 0.0004);
  EXPECT_EQ(change.visible, 0.08);
}

}  // namespace
}  // namespace gpubench
