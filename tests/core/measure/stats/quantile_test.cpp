#include "core/measure/stats/quantile.h"

#include <gtest/gtest.h>
#include <vector>

namespace gpubench {
namespace {

TEST(Quantile, InterpolatesBetweenOrderStatistics) {
  const std::vector<double> samples{7, 1, 3, 10};  // sorted: 1 3 7 10
  EXPECT_DOUBLE_EQ(quantile(samples, 0), 1);
  EXPECT_DOUBLE_EQ(quantile(samples, 0.25), 2.5);
  EXPECT_DOUBLE_EQ(quantile(samples, 0.5), 5);
  EXPECT_DOUBLE_EQ(quantile(samples, 0.95), 9.55);
  EXPECT_DOUBLE_EQ(quantile(samples, 1), 10);
}

TEST(Quantile, MedianOfOddAndEvenCounts) {
  EXPECT_DOUBLE_EQ(median(std::vector<double>{4}), 4);
  EXPECT_DOUBLE_EQ(median(std::vector<double>{9, 1, 5}), 5);
  EXPECT_DOUBLE_EQ(median(std::vector<double>{9, 1, 5, 6}), 5.5);
}

}  // namespace
}  // namespace gpubench
