#include "core/measure/estimate.h"

#include <cmath>
#include <gtest/gtest.h>
#include <numeric>

#include "tests/core/measure/series.h"

namespace gpubench {
namespace {

// Share of trials whose interval covers the true median of 1 ms.
double coverage(std::size_t count, double correlation, int trials = 2000) {
  int covered = 0;
  for (int trial = 0; trial < trials; ++trial) {
    const auto series = lognormal_series(count, correlation, 0.3, static_cast<std::uint64_t>(trial) + 1);
    if (estimate_median(series).interval.contains(1e-3)) ++covered;
  }
  return static_cast<double>(covered) / trials;
}

// Share of trials whose interval covers the true mean.
double mean_coverage(std::size_t count, double correlation, int trials = 2000) {
  constexpr double spread = 0.3;
  const double mean = 1e-3 * std::exp(spread * spread / 2);
  int covered = 0;
  for (int trial = 0; trial < trials; ++trial) {
    const auto series = lognormal_series(count, correlation, spread, static_cast<std::uint64_t>(trial) + 1);
    if (estimate_mean(series).interval.contains(mean)) ++covered;
  }
  return static_cast<double>(covered) / trials;
}

TEST(MeanEstimate, TakesBlockMeans) {
  // Six samples are blocks of one: mean 3.5, standard deviation of the mean sqrt(3.5 / 6), t = 2.571.
  const std::vector<double> six{1, 2, 3, 4, 5, 6};
  const Estimate estimate = estimate_mean(six);
  EXPECT_EQ(estimate.value, 3.5);
  EXPECT_NEAR(estimate.interval.high - 3.5, 2.571 * std::sqrt(3.5 / 6), 1e-12);
  EXPECT_NEAR(3.5 - estimate.interval.low, 2.571 * std::sqrt(3.5 / 6), 1e-12);
  EXPECT_TRUE(std::isinf(estimate_mean(std::span(six).first(5)).relative_error()));
  EXPECT_TRUE(std::isinf(estimate_mean({}).relative_error()));
}

TEST(MeanEstimate, CoversTheMean) {
  EXPECT_NEAR(mean_coverage(20, 0), 0.94, 0.02);
  EXPECT_NEAR(mean_coverage(1000, 0), 0.95, 0.015);
  EXPECT_GE(mean_coverage(3000, 0.9), 0.92);
}

TEST(MedianEstimate, TakesOrderStatisticsOfSingleSamplesWhenFew) {
  // Ten samples: P(Binomial(10, 1/2) < 2) = 11/1024 = 1.07 %, but < 3 is 5.5 %: ranks 2 and 9.
  std::vector<double> samples(10);
  std::iota(samples.begin(), samples.end(), 1);
  EXPECT_EQ(estimate_median(samples), (Estimate{5.5, {2, 9}}));
}

TEST(MedianEstimate, TakesBlockMediansWhenMany) {
  // 93 samples make 31 blocks of three, whose medians are 2, 5, ..., 92; ranks 10 and 22 (2.94 % would be missed by
  // 11).
  std::vector<double> samples(93);
  std::iota(samples.begin(), samples.end(), 1);
  EXPECT_EQ(estimate_median(samples), (Estimate{47, {29, 65}}));
}

TEST(MedianEstimate, NeedsSixSamplesForAnInterval) {
  const std::vector<double> five{1, 2, 3, 4, 5};
  EXPECT_EQ(estimate_median(five).value, 3);
  EXPECT_TRUE(std::isinf(estimate_median(five).relative_error()));
  const std::vector<double> six{1, 2, 3, 4, 5, 6};
  EXPECT_EQ(estimate_median(six), (Estimate{3.5, {1, 6}}));
  EXPECT_TRUE(std::isinf(estimate_median({}).relative_error()));
}

TEST(MedianEstimate, AConstantSeriesHasNoWidth) {
  const std::vector<double> samples(1000, 4.0);
  EXPECT_EQ(estimate_median(samples), (Estimate{4, {4, 4}}));
  EXPECT_EQ(estimate_median(samples).relative_error(), 0);
}

TEST(MedianEstimate, CoversTheMedianOfIndependentSeries) {
  EXPECT_GE(coverage(12, 0), 0.94);
  EXPECT_GE(coverage(100, 0), 0.94);
  EXPECT_GE(coverage(3000, 0), 0.94);
}

TEST(MedianEstimate, CoversTheMedianOfCorrelatedSeries) {
  EXPECT_GE(coverage(2000, 0.9), 0.92);
  EXPECT_GE(coverage(20000, 0.98, 500), 0.92);
}

TEST(MedianEstimate, IntervalsOverlapWhenTheyTouch) {
  EXPECT_TRUE((Interval{1, 2}).overlaps({2, 3}));
  EXPECT_FALSE((Interval{1, 2}).overlaps({2.1, 3}));
}

TEST(MeanRatio, OfConstantSeriesIsExact) {
  const std::vector<double> slow(100, 3.0);
  const std::vector<double> fast(50, 2.0);
  EXPECT_EQ(estimate_mean_ratio(slow, fast), (Estimate{1.5, {1.5, 1.5}}));
}

TEST(MeanRatio, CoversTheTrueRatio) {
  int covered = 0;
  constexpr int trials = 300;
  for (int trial = 0; trial < trials; ++trial) {
    const auto seed = static_cast<std::uint64_t>(2 * trial + 1);
    const auto a = lognormal_series(600, 0.5, 0.2, seed);
    const auto b = lognormal_series(400, 0.5, 0.2, seed + 1);
    if (estimate_mean_ratio(a, b, seed).interval.contains(1)) ++covered;
  }
  EXPECT_GE(covered, 0.91 * trials);
}

TEST(MeanRatio, SeesWhatFewSamplesPayForAll) {
  std::vector<double> bursts(600, 1.0);
  for (std::size_t i = 0; i < bursts.size(); i += 10) bursts[i] = 111;
  const Estimate ratio = estimate_mean_ratio(bursts, std::vector<double>(400, 1.0));
  EXPECT_NEAR(ratio.value, 12, 1e-9);
  EXPECT_GT(ratio.interval.low, 9);
  EXPECT_LT(ratio.interval.high, 15);
}

TEST(MeanRatio, NeedsSixSamplesOnEachSide) {
  const std::vector<double> few(5, 1.0);
  const std::vector<double> enough(6, 1.0);
  EXPECT_TRUE(std::isinf(estimate_mean_ratio(few, enough).relative_error()));
  EXPECT_TRUE(std::isinf(estimate_mean_ratio(enough, few).relative_error()));
  EXPECT_TRUE(std::isinf(estimate_mean_ratio({}, enough).relative_error()));
  EXPECT_EQ(estimate_mean_ratio(enough, enough).relative_error(), 0);
}

}  // namespace

}  // namespace gpubench
