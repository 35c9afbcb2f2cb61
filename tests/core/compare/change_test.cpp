#include "core/compare/change.h"

#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <random>

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

// Rows that were called SAME while the threshold grew with their noise.
TEST(Change, NoiseMakesNothingTheSame) {
  const std::vector<double> noisy{0.8, 0.9, 0.9, 1.0, 1.1, 1.1, 1.2};
  const Change equal = judged("step_time_s", noisy, noisy);
  EXPECT_NEAR(equal.noise, 0.2, 1e-12);
  EXPECT_EQ(equal.threshold, 0.01);
  EXPECT_EQ(word(equal), "AMBIGUOUS");
  EXPECT_THAT(equal.reason, HasSubstr("a change of 1.0 % is not excluded"));
  const std::vector<double> two_states{1.000, 1.001, 1.002, 1.003, 1.004, 10.05, 10.06};
  EXPECT_EQ(word(judged("time_s", two_states, {5, 5.005, 5.01, 5.015, 5.02, 5.025, 5.03})), "AMBIGUOUS");
  EXPECT_EQ(
      word(judged("time_s", {1, 1.001, 1.002, 1.003, 10, 10.01, 10.02}, {1, 1.001, 1.002, 10, 10.01, 10.02, 10.03})),
      "AMBIGUOUS");
}

// The text has the shift that the interval is about, also where the medians of two states lie apart.
TEST(Change, TheChangeLiesInItsInterval) {
  const Change change =
      judged("time_s", {1, 1.001, 1.002, 1.003, 10, 10.01, 10.02}, {1, 1.001, 1.002, 10, 10.01, 10.02, 10.03});
  EXPECT_TRUE(change.log_ratio->interval.contains(change.log_ratio->value));
  EXPECT_NEAR(change.relative(), std::expm1(change.log_ratio->value), 1e-12);
  const Change share = judged("test_accuracy", seven_around(0.9), seven_around(0.75));
  EXPECT_EQ(text_of_change(share), "15.0 points less accurate");
  EXPECT_EQ(interval_text(share), "[-15.1, -14.9] points");
}

TEST(Change, ARealChangeWithinTheThresholdIsNotCalled) {
  std::vector<double> before, after;
  for (int i = 0; i < 10; ++i) {
    before.push_back(1 + 1e-4 * i);
    after.push_back(1.005 + 1e-4 * i);
  }
  EXPECT_EQ(word(judged("step_time_s", before, after)), "SAME");
  EXPECT_EQ(word(judged("step_time_s", before, after, {.threshold = 0.003})), "SLOWER");
  EXPECT_EQ(word(judged("step_time_s", before, after, {.threshold = 0.005})), "AMBIGUOUS") << "it may be either";
}

TEST(Change, TiesHideNothing) {
  const std::vector<double> ten(7, 10.0), twenty(7, 20.0);
  EXPECT_EQ(word(judged("step_time_s", ten, twenty)), "SLOWER");
}

TEST(Change, WhatCannotBeShownSaysHowManyProcessesWouldSettleIt) {
  const std::vector<double> before{0.98, 0.985, 0.99, 1, 1.01, 1.015, 1.02};
  std::vector<double> after = before;
  for (double& value : after) value *= 1.02;
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

TEST(Change, CalibratedLimitsReplaceEstimates) {
  const ChangeLimits limits{.threshold = 0.05, .false_positive_rate = 0.0004, .visible = 0.08};
  const Change change = judged("step_time_s", seven_around(1), seven_around(1.04), limits);
  EXPECT_EQ(word(change), "SAME");
  EXPECT_EQ(change.false_positive_rate, 0.0004);
  EXPECT_EQ(change.visible, 0.08);
}

// As hyperfine's files may have them: sizes from which on the rule is not simulated give nearly what those before do.
TEST(Change, ManyProcessesAreJudgedQuickly) {
  std::mt19937_64 engine(3);
  std::normal_distribution<double> normal(0, 0.01);
  const auto drawn = [&](std::size_t count, double middle) {
    std::vector<double> values;
    for (std::size_t i = 0; i < count; ++i) values.push_back(middle * std::exp(normal(engine)));
    return values;
  };
  const Change many = judged("step_time_s", drawn(20'000, 1), drawn(20'000, 1.02));
  EXPECT_EQ(word(many), "SLOWER");
  EXPECT_NEAR(many.relative(), 0.02, 0.001);
  EXPECT_NEAR(*many.visible, 0.01, 0.001);
  const ChangeLimits small{.threshold = 0.0001};
  const double simulated = *judged("step_time_s", drawn(50, 1), drawn(50, 1), small).visible;
  EXPECT_NEAR(*judged("step_time_s", drawn(51, 1), drawn(51, 1), small).visible / simulated, 1, 0.3);
}

}  // namespace
}  // namespace gpubench
