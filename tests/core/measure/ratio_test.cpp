#include "core/measure/ratio.h"

#include <cmath>
#include <gtest/gtest.h>

#include "tests/core/measure/series.h"

namespace gpubench {
namespace {

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
