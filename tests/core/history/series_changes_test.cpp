#include "core/history/series_changes.h"

#include <gmock/gmock.h>

#include "tests/core/history/nights.h"

namespace gpubench {
namespace {

using support::near;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<double> joined(std::initializer_list<std::vector<double>> parts) {
  std::vector<double> all;
  for (const auto& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

TEST(SeriesChangesTest, ALevelThatChangesAndComesBack) {
  const auto found = series_changes(joined({near(10, 20), near(11, 20), near(10, 20)}));
  EXPECT_THAT(found.changes, ElementsAre(20, 40));
  ASSERT_EQ(found.alarms.size(), 2u);
  EXPECT_GT(found.alarms[0], 20u);
  EXPECT_LT(found.alarms[0], 29u);
}

TEST(SeriesChangesTest, ASpikeIsAnOutlier) {
  const auto found = series_changes(joined({near(10, 20), {20}, near(10, 20)}));
  EXPECT_THAT(found.changes, IsEmpty());
  EXPECT_THAT(found.outliers, ElementsAre(20));
}

TEST(SeriesChangesTest, ValuesThatComeLaterMoveNothing) {
  const auto all = joined({near(10, 20), near(11, 20), near(12, 20)});
  const auto whole = series_changes(all);
  for (std::size_t n = 0; n < all.size(); ++n) {
    const auto part = series_changes(std::span(all).first(n));
    ASSERT_LE(part.changes.size(), whole.changes.size());
    EXPECT_TRUE(std::equal(part.changes.begin(), part.changes.end(), whole.changes.begin())) << n;
  }
}

TEST(SeriesChangesTest, FewOrEqualValues) {
  EXPECT_THAT(series_changes({}).changes, IsEmpty());
  EXPECT_THAT(series_changes(std::vector<double>{1}).changes, IsEmpty());
  EXPECT_THAT(series_changes(std::vector<double>(50, 0.0)).changes, IsEmpty());
}

}  // namespace
}  // namespace gpubench
