#include "core/measure/ratio.h"

#include <cmath>
#include <gtest/gtest.h>

#include "tests/core/measure/series.h"

namespace gpubench {
namespace {

TEST(MedianRatio, OfConstantSeriesIsExact) {
  const std::vector<double> slow(100, 3.0);
  const std::vector<double> fast(50, 2.0);
  EXPECT_EQ(estimate_median_ratio(slow, fast), (Estimate{1.5, {1.5, 1.5}}));
}

TEST(MedianRatio, CoversTheTrueRatio) {
  int covered = 0;
  constexpr int trials = 300;
  for (int trial = 0; trial < trials; ++trial) {
    const auto seed = static_cast<std::uint64_t>(2 * trial + 1);
    const auto a = lognormal_series(600, 0.5, 0.2, seed);
    const auto b = lognormal_series(400, 0.5, 0.2, seed + 1);
    if (estimate_median_ratio(a, b, seed).interval.contains(1)) ++covered;
  }
  EXPECT_GE(covered, 0.91 * trials);
}

TEST(MedianRatio, NeedsSixSamplesOnEachSide) {
  const std::vector<double> few(5, 1.0);
  const std::vector<double> enough(6, 1.0);
  EXPECT_TRUE(std::isinf(estimate_median_ratio(few, enough).relative_error()));
  EXPECT_TRUE(std::isinf(estimate_median_ratio(enough, few).relative_error()));
  EXPECT_TRUE(std::isinf(estimate_median_ratio({}, enough).relative_error()));
  EXPECT_EQ(estimate_median_ratio(enough, enough).relative_error(), 0);
}

}  // namespace
}  // namespace gpubench
