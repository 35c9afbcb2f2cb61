#include "core/measure/stats/block_bootstrap.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <numeric>

#include "core/measure/stats/quantile.h"

namespace gpubench {
namespace {

TEST(BlockBootstrap, WholeBlocksAreRotationsOfTheSeries) {
  const std::vector<double> series{5, 1, 4, 2, 3, 9};
  for (const double one : bootstrap_means(series, series.size(), 50, 3)) EXPECT_DOUBLE_EQ(one, 4);
}

TEST(BlockBootstrap, ResamplesHaveTheSeriesLength) {
  const std::vector<double> two{0, 1};
  for (const double one : bootstrap_means(two, 1, 50, 3)) EXPECT_TRUE(one == 0 || one == 0.5 || one == 1) << one;
}

TEST(BlockBootstrap, SpreadOfSingleSamplesIsThatOfTheMean) {
  // Uniform samples have a standard deviation of 1 / sqrt(12), the mean of 100 a tenth of that.
  std::vector<double> series(100);
  for (std::size_t i = 0; i < series.size(); ++i) series[i] = (static_cast<double>((i * 37) % 100) + 0.5) / 100;
  std::vector<double> means = bootstrap_means(series, 1, 4000, 5);
  std::ranges::sort(means);
  EXPECT_NEAR(sorted_quantile(means, 0.5), 0.5, 0.01);
  EXPECT_NEAR((sorted_quantile(means, 0.8413) - sorted_quantile(means, 0.1587)) / 2, 0.0289, 0.003);
}

TEST(BlockBootstrap, TheSameSeedDrawsTheSame) {
  std::vector<double> series(100);
  std::iota(series.begin(), series.end(), 0);
  EXPECT_EQ(bootstrap_means(series, 7, 20, 1), bootstrap_means(series, 7, 20, 1));
  EXPECT_NE(bootstrap_means(series, 7, 20, 1), bootstrap_means(series, 7, 20, 2));
  // A longer draw starts with the shorter one.
  const auto more = bootstrap_means(series, 7, 40, 1);
  EXPECT_EQ(std::vector<double>(more.begin(), more.begin() + 20), bootstrap_means(series, 7, 20, 1));
}

}  // namespace
}  // namespace gpubench
