#include "core/compare/changes/find_changes.h"

#include <algorithm>
#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/compare/changes/find_outliers.h"
#include "tests/core/compare/changes/series.h"

namespace gpubench {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::vector<double> steps(std::vector<std::pair<std::size_t, double>> parts, std::uint64_t seed) {
  std::size_t size = 0;
  for (const auto& [count, level] : parts) size += count;
  std::vector<double> values = noise(size, seed);
  auto value = values.begin();
  for (const auto& [count, level] : parts)
    for (std::size_t i = 0; i < count; ++i) *value++ += level;
  return values;
}

double median_of(std::vector<std::size_t> values) {
  std::ranges::sort(values);
  return static_cast<double>(values.at(values.size() / 2));
}

TEST(FindChanges, StepsAreFoundWhereTheyAreWithinAFewValues) {
  std::vector<std::size_t> delays;
  int at_place = 0;
  constexpr int trials = 200;
  for (int trial = 0; trial < trials; ++trial) {
    const Changes found = find_changes(steps({{60, 0}, {60, 4}}, 1000 + trial));
    ASSERT_THAT(found.changes, SizeIs(1)) << trial;
    at_place += std::fabs(static_cast<double>(found.changes[0]) - 60) <= 2;
    delays.push_back(found.alarms[0] - std::min<std::size_t>(found.alarms[0], 60));
  }
  EXPECT_GE(at_place, 0.95 * trials);
  EXPECT_LE(median_of(delays), 8);
}

TEST(FindChanges, AStepOfFiveDeviationsIsPlacedAtItsIndex) {
  constexpr int trials = 400;
  for (const std::size_t before : {10, 20, 30, 60}) {
    int exact = 0;
    for (int trial = 0; trial < trials; ++trial) {
      const Changes found = find_changes(steps({{before, 0}, {30, 5}}, 4000 + trial));
      exact += !found.changes.empty() && found.changes[0] == before;
    }
    EXPECT_GE(exact, 0.95 * trials) << before;
  }
}

TEST(FindChanges, ALargeMoveHidesNoLaterSmallOne) {
  for (const double moved : {30.0, 100.0, 1000.0, -50.0}) {
    int in_time = 0;
    constexpr int trials = 100;
    for (int trial = 0; trial < trials; ++trial) {
      const Changes found = find_changes(steps({{30, moved}, {60, 0}, {14, moved}, {40, 0}, {10, 8}}, 9000 + trial));
      in_time += !found.changes.empty() && found.changes.back() >= 142 && found.changes.back() <= 146;
    }
    EXPECT_GE(in_time, 0.95 * trials) << moved;
  }
}

TEST(FindChanges, ASpikeAmongFewValuesDelaysNothing) {
  std::vector<double> values = steps({{12, 0}, {10, 10}}, 77);
  values[6] += 80;
  const Changes found = find_changes(values);
  ASSERT_THAT(found.changes, ElementsAre(12));
  EXPECT_LE(found.alarms[0], 12u + 6);
}

TEST(FindChanges, SeveralStepsUpAndDownAreAllFound) {
  const Changes found = find_changes(steps({{50, 0}, {40, 5}, {30, 0}, {50, -5}}, 3));
  ASSERT_THAT(found.changes, SizeIs(3));
  const std::size_t expected[] = {50, 90, 120};
  for (std::size_t i = 0; i < 3; ++i)
    EXPECT_NEAR(static_cast<double>(found.changes[i]), static_cast<double>(expected[i]), 3);
}

TEST(FindChanges, ALevelThatLastsForFewValuesHasAnEnd) {
  // It must last for as many values as the first alarm needs: 6, since both levels are far apart.
  for (const auto& [before, bad] : {std::pair<std::size_t, std::size_t>{40, 6}, {40, 7}, {16, 7}, {16, 8}, {16, 9}}) {
    std::vector<double> values;
    for (std::size_t i = 0; i < before + bad + 60; ++i)
      values.push_back(0.1 * static_cast<double>(i * 7 % 5) + (i >= before && i < before + bad ? 10 : 0));
    const Changes found = find_changes(values);
    EXPECT_THAT(found.changes, ElementsAre(before, before + bad));
    ASSERT_THAT(found.alarms, SizeIs(2));
    EXPECT_EQ(found.alarms[0], before + 6 - 1);
    EXPECT_LE(found.alarms[1], before + bad + 20);
    EXPECT_THAT(find_outliers(values, found.changes), IsEmpty());
  }
}

TEST(FindChanges, ADriftIsReportedOnceItHasLeftTheNoise) {
  std::vector<double> values = noise(200, 4);
  for (std::size_t i = 100; i < values.size(); ++i) values[i] += 0.1 * static_cast<double>(i - 100);
  const Changes found = find_changes(values);
  ASSERT_FALSE(found.changes.empty());
  EXPECT_GE(found.changes.front(), 95U);
  EXPECT_LE(found.changes.front(), 150U);
}

TEST(FindChanges, SpikesAreNoChanges) {
  std::vector<double> values = noise(200, 5);
  values[70] += 1000;
  EXPECT_THAT(find_changes(values).changes, IsEmpty());
  for (std::size_t i = 20; i < values.size(); i += 17) values[i] -= 50;
  values[120] += 90;
  values[121] += 80;
  values[122] += 70;
  EXPECT_THAT(find_changes(values).changes, IsEmpty());
}

TEST(FindChanges, AChangeOfTheSpreadAloneIsNone) {
  std::vector<double> values = noise(300, 6);
  for (std::size_t i = 150; i < values.size(); ++i) values[i] *= 5;
  EXPECT_THAT(find_changes(values).changes, IsEmpty());
}

TEST(FindChanges, EqualValuesHaveNoChange) {
  EXPECT_THAT(find_changes(std::vector<double>(100, 3.25)).changes, IsEmpty());
}

TEST(FindChanges, ShortSeriesHaveNoChange) {
  EXPECT_THAT(find_changes({}).changes, IsEmpty());
  EXPECT_THAT(find_changes(std::vector<double>{1}).changes, IsEmpty());
  EXPECT_THAT(find_changes(std::vector<double>{1, 2}).changes, IsEmpty());
  EXPECT_THAT(find_changes(std::vector<double>{1, 1, 1, 1, 1, 2, 2, 2, 2, 2}).changes, IsEmpty());
}

TEST(FindChanges, TiedValuesAreFoundToHaveChanged) {
  std::vector<double> values;
  for (int i = 0; i < 100; ++i) values.push_back((i < 50 ? 40 : 45) + i * 7 % 3);
  const Changes found = find_changes(values);
  EXPECT_THAT(found.changes, ElementsAre(50));
  // Two values that alternate are no change, and their shares may differ a little.
  for (int i = 0; i < 100; ++i) values[static_cast<std::size_t>(i)] = i * i % 5 < (i < 50 ? 2 : 3);
  EXPECT_THAT(find_changes(values).changes, IsEmpty());
}

TEST(FindChanges, SeriesOfOneLevelHaveHardlyAnyChange) {
  // 1000 series of 300 values; tails of the last third are long.
  int alarmed = 0;
  for (int trial = 0; trial < 1000; ++trial) {
    std::vector<double> values = noise(300, 50000 + trial);
    if (trial % 3 == 0)
      for (double& value : values) value = std::exp(2 * value);
    alarmed += !find_changes(values).changes.empty();
  }
  EXPECT_LE(alarmed, 10);
}

TEST(FindChanges, ScaleAndOffsetDoNotMatter) {
  for (int trial = 0; trial < 50; ++trial) {
    const std::vector<double> values = steps({{50, 0}, {50, 3}, {50, -1}}, 7000 + trial);
    const Changes found = find_changes(values);
    for (const auto& [scale, offset] : {std::pair{1e-9, 0.0}, {1024.0, 4096.0}, {-3.0, 0.0}}) {
      std::vector<double> other = values;
      for (double& value : other) value = scale * value + offset;
      const Changes again = find_changes(other);
      EXPECT_EQ(again.changes, found.changes) << trial;
      EXPECT_EQ(again.alarms, found.alarms) << trial;
    }
  }
}

TEST(FindChanges, LaterValuesNeitherWithdrawNorMoveAChange) {
  for (int trial = 0; trial < 20; ++trial) {
    const std::vector<double> values = steps({{40, 0}, {12, 5}, {30, 0}, {9, -6}, {40, 2}}, 8000 + trial);
    const Changes whole = find_changes(values);
    ASSERT_EQ(whole.changes.size(), whole.alarms.size());
    for (std::size_t size = 0; size <= values.size(); ++size) {
      const Changes part = find_changes(std::span(values).first(size));
      const auto known = static_cast<std::size_t>(std::ranges::lower_bound(whole.alarms, size) - whole.alarms.begin());
      EXPECT_EQ(part.changes, std::vector(whole.changes.begin(), whole.changes.begin() + static_cast<long>(known)));
      EXPECT_EQ(part.alarms, std::vector(whole.alarms.begin(), whole.alarms.begin() + static_cast<long>(known)));
    }
  }
}

}  // namespace
}  // namespace gpubench
