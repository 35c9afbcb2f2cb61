#include "core/compare/changes/find_outliers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/core/compare/changes/series.h"

namespace gpubench {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(FindOutliers, SpikesAreFound) {
  std::vector<double> values = noise(100, 1);
  values[3] += 10;
  values[50] -= 10;
  values[51] -= 12;
  EXPECT_THAT(find_outliers(values, {}), ElementsAre(3, 50, 51));
}

TEST(FindOutliers, TheLastValuesMayBeginAChange) {
  std::vector<double> values = noise(40, 2);
  values[38] += 20;
  values[39] += 20;
  EXPECT_THAT(find_outliers(values, {}), IsEmpty());
  values.push_back(values[37]);
  EXPECT_THAT(find_outliers(values, {}), ElementsAre(38, 39));
}

TEST(FindOutliers, ValuesAreComparedBetweenChangesOnly) {
  std::vector<double> values = noise(60, 3);
  for (std::size_t i = 54; i < values.size(); ++i) values[i] += 50;
  const std::vector<std::size_t> changes{54};
  EXPECT_THAT(find_outliers(values, changes), IsEmpty());
}

TEST(FindOutliers, EqualNeighboursAllowFewOthers) {
  std::vector<double> values(60, 42);
  EXPECT_THAT(find_outliers(values, {}), IsEmpty());
  values[30] = 43;
  EXPECT_THAT(find_outliers(values, {}), ElementsAre(30));
  for (std::size_t i = 0; i < values.size(); i += 4) values[i] = 43;
  EXPECT_THAT(find_outliers(values, {}), IsEmpty());
}

TEST(FindOutliers, FewValuesHaveNone) {
  EXPECT_THAT(find_outliers({}, {}), IsEmpty());
  EXPECT_THAT(find_outliers(std::vector<double>{1, 1, 99, 1, 1}, {}), IsEmpty());
}

}  // namespace
}  // namespace gpubench
