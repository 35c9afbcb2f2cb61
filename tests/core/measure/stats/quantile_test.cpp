#include "core/measure/stats/quantile.h"

#include <gtest/gtest.h>
#include <vector>

#include "core/measure/stats/fences.h"

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

TEST(Fences, ClassifyWithoutDropping) {
  // Quartiles 2 and 4, so the fences stand at -1, 7 (mild) and -4, 10 (severe).
  const std::vector<double> samples{2, 2, 3, 4, 4};
  EXPECT_EQ(classify_outliers(samples), OutlierCounts{});
  const std::vector<double> wide{-5, 2, 2, 2, 2, 3, 3, 3, 4, 4, 4, 4, 8, 11};
  // Sorted quartiles of `wide` are 2 and 4 as well.
  const OutlierCounts counts = classify_outliers(wide);
  EXPECT_EQ(counts, (OutlierCounts{.low_severe = 1, .low_mild = 0, .high_mild = 1, .high_severe = 1}));
  EXPECT_EQ(counts.total(), 3u);
  EXPECT_EQ(classify_outliers({}), OutlierCounts{});
}

}  // namespace
}  // namespace gpubench
