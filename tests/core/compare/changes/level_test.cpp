#include "core/compare/changes/level.h"

#include <gtest/gtest.h>
#include <vector>

#include "tests/core/compare/changes/series.h"

namespace gpubench {
namespace {

/// Values around 100 with a standard deviation of 1, and then the others.
std::vector<double> around_100(std::size_t count, std::uint64_t seed, const std::vector<double>& then = {}) {
  std::vector<double> values = noise(count, seed);
  for (double& value : values) value += 100;
  values.insert(values.end(), then.begin(), then.end());
  return values;
}

TEST(Level, TenValuesShowIt) {
  EXPECT_FALSE(level_of(around_100(9, 1), {}));
  const auto level = level_of(around_100(40, 1), {});
  ASSERT_TRUE(level);
  EXPECT_NEAR(level->center, 100, 1);
  EXPECT_NEAR(level->deviation, 1, 0.4);
  EXPECT_TRUE(level->is_far(110));
  EXPECT_FALSE(level->is_far(102.5));
}

TEST(Level, FarIsMoreThanThreePercent) {
  std::vector<double> values;
  for (int i = 0; i < 20; ++i) values.push_back(100 + 0.001 * (i % 3));
  const auto level = level_of(values, {});
  ASSERT_TRUE(level);
  EXPECT_FALSE(level->is_far(102.9));
  EXPECT_TRUE(level->is_far(103.1));
}

TEST(Level, BeginsWithTheLastChangeAndKeepsTheNoise) {
  std::vector<double> values = around_100(30, 2, {200.0, 200.5});
  const std::vector<std::size_t> changes{30};
  const auto level = level_of(values, changes);
  ASSERT_TRUE(level);
  EXPECT_NEAR(level->center, 200.25, 1e-9);
  EXPECT_NEAR(level->deviation, 1, 0.4) << "of the values before, around their own level";
  EXPECT_TRUE(level->is_far(100));
}

TEST(Level, OutliersDoNotHideIt) {
  std::vector<double> values = around_100(30, 3);
  for (std::size_t i = 2; i < values.size(); i += 3) values[i] += 20;
  const auto level = level_of(values, {});
  ASSERT_TRUE(level);
  EXPECT_TRUE(level->is_far(120)) << level->center << " " << level->deviation;
}

TEST(IsConfirmed, NeedsTheMedianFarOffAndAnotherOrder) {
  const auto level = level_of(around_100(20, 4), {});
  ASSERT_TRUE(level);
  EXPECT_TRUE(is_confirmed(*level, std::vector<double>{120, 121, 119, 120, 122, 118, 120}));
  EXPECT_FALSE(is_confirmed(*level, std::vector<double>{120, 121, 119, 100, 100, 101, 99})) << "most are as before";
  EXPECT_FALSE(is_confirmed(*level, std::vector<double>{120, 120})) << "too few";
  EXPECT_FALSE(is_confirmed(*level, {}));
}

TEST(FrequentlyFar, ThreeOfNineOnTheWorseSide) {
  const std::vector<double> slow_now_and_then{100, 120, 100, 100, 121, 100, 100, 122};
  const auto values = around_100(20, 5, slow_now_and_then);
  EXPECT_EQ(frequently_far(values, {}, true, false), 21u);
  EXPECT_FALSE(frequently_far(values, {}, false, false)) << "a rate was better then";
  EXPECT_FALSE(frequently_far(around_100(20, 5, {100, 120, 100, 100, 121, 100, 100}), {}, true, false));
  EXPECT_FALSE(frequently_far(around_100(20, 5, {120, 121, 122, 100}), {}, true, false)) << "the last one is as usual";
}

TEST(FrequentlyFar, AKnownHabitIsNoNews) {
  std::vector<double> habit;
  for (int i = 0; i < 45; ++i) habit.push_back(i % 3 == 2 ? 120 : 100 + 0.1 * (i % 2));
  const auto values = around_100(12, 6, habit);
  EXPECT_TRUE(frequently_far(values, {}, true, false));
  EXPECT_FALSE(frequently_far(values, {}, true, true));
  for (int i = 0; i < 8; ++i) habit.push_back(120);
  EXPECT_TRUE(frequently_far(around_100(12, 6, habit), {}, true, true)) << "worse than the habit";
}

}  // namespace
}  // namespace gpubench
