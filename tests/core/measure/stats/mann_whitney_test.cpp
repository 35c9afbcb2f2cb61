#include "core/measure/stats/mann_whitney.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <gtest/gtest.h>
#include <random>
#include <vector>

namespace gpubench {
namespace {

std::vector<double> range(int first, int count) {
  std::vector<double> values;
  for (int i = 0; i < count; ++i) values.push_back(first + i);
  return values;
}

TEST(MannWhitney, IsExactForSmallSamples) {
  // Of the 20 orders of 3 + 3 values, 1 has no pair out of order, 1 has one, 2 have two, 3 have three.
  EXPECT_DOUBLE_EQ(mann_whitney_p(std::vector<double>{1, 2, 3}, std::vector<double>{4, 5, 6}), 2 * 1 / 20.0);
  EXPECT_DOUBLE_EQ(mann_whitney_p(std::vector<double>{1, 2, 4}, std::vector<double>{3, 5, 6}), 2 * 2 / 20.0);
  EXPECT_DOUBLE_EQ(mann_whitney_p(std::vector<double>{5, 6, 3}, std::vector<double>{1, 2, 4}), 2 * 2 / 20.0);
  EXPECT_DOUBLE_EQ(mann_whitney_p(std::vector<double>{1, 2, 5}, std::vector<double>{3, 4, 6}), 2 * 4 / 20.0);
  EXPECT_DOUBLE_EQ(mann_whitney_p(range(0, 7), range(7, 7)), 2 / 3432.0);
  EXPECT_NEAR(mann_whitney_p(std::vector<double>{1, 2, 5, 9, 12}, std::vector<double>{3, 4, 6, 20, 21, 30}),
              0.24675324675324672, 1e-15);  // SciPy 1.16, method exact
  EXPECT_DOUBLE_EQ(mann_whitney_p(range(0, 6), range(6, 30)), 2 / 1947792.0);
  EXPECT_DOUBLE_EQ(mann_whitney_p(range(6, 30), range(0, 6)), 2 / 1947792.0);
}

// Of the 70 ways to choose 4 of 1 2 2 2 3 3 4 5 (doubled ranks 2 6 6 6 11 11 14 16, mean of four 36), 12 are as far
// from the mean as 2 6 6 11.
TEST(MannWhitney, IsExactWithTies) {
  const std::vector<double> a{1, 2, 2, 3};
  const std::vector<double> b{2, 3, 4, 5};
  EXPECT_DOUBLE_EQ(mann_whitney_u(a, b), 13.5);
  int as_far = 0;
  const std::vector<int> ranks{2, 6, 6, 6, 11, 11, 14, 16};
  for (unsigned chosen = 0; chosen < 256; ++chosen) {
    if (std::popcount(chosen) != 4) continue;
    int sum = 0;
    for (std::size_t i = 0; i < ranks.size(); ++i) sum += ((chosen >> i) & 1U) != 0 ? ranks[i] : 0;
    as_far += std::abs(sum - 36) >= std::abs(2 + 6 + 6 + 11 - 36);
  }
  EXPECT_DOUBLE_EQ(mann_whitney_p(a, b), as_far / 70.0);
  EXPECT_DOUBLE_EQ(mann_whitney_p(b, a), as_far / 70.0);
}

// A tie within a side says nothing of the two: seven values all below seven others differ as without one.
TEST(MannWhitney, TiesWithinASideLoseNothing) {
  const std::vector<double> a{10, 10, 10, 11, 12, 12, 13};
  const std::vector<double> b{20, 20, 21, 22, 22, 23, 24};
  EXPECT_DOUBLE_EQ(mann_whitney_p(a, b), 2 / 3432.0);
}

TEST(MannWhitney, ApproximatesManyValuesWithTies) {
  std::vector<double> a(26, 1.0), b(26, 1.0);
  for (std::size_t i = 0; i < 13; ++i) b[i] = 2;
  // U = 26 * 13 + 26 * 13 / 2 of 676 pairs; variance 676 / 12 * (53 - (39^3 - 39 + 13^3 - 13) / (52 * 51)).
  const double variance = 676 / 12.0 * (53 - (59280 + 2184) / (52.0 * 51));
  EXPECT_DOUBLE_EQ(mann_whitney_p(a, b), std::erfc((338 - 169 - 0.5) / std::sqrt(2 * variance)));
}

TEST(MannWhitney, KnowsTheLargestUBelowALevel) {
  EXPECT_EQ(largest_u(7, 7, 0.0012), 1u);
  EXPECT_EQ(largest_u(7, 7, 0.0005), std::nullopt);
  EXPECT_EQ(largest_u(6, 6, 0.0012), std::nullopt);
  EXPECT_DOUBLE_EQ(attained_level(7, 7, 0.0012), 4 / 3432.0);
  EXPECT_EQ(attained_level(6, 6, 0.0012), 0);
  for (const std::size_t size : {8, 20, 49, 50, 300}) {
    const double level = attained_level(size, size, 0.0012);
    EXPECT_LT(level, 0.0012) << size;
    EXPECT_GT(level, 0.0009) << size;
  }
}

TEST(MannWhitney, ApproximatesLargeSamples) {
  // 0 of 2500 pairs are out of order; the correction for continuity is a half.
  const double z = 1249.5 / std::sqrt(2500 * 101 / 12.0);
  EXPECT_DOUBLE_EQ(mann_whitney_p(range(0, 50), range(50, 50)), std::erfc(z / std::sqrt(2.0)));
  EXPECT_NEAR(mann_whitney_p(range(0, 50), range(50, 50)) / 7.066071930388932e-18, 1, 1e-9);  // SciPy
}

TEST(MannWhitney, SaysNothingAboutNothing) {
  EXPECT_EQ(mann_whitney_p({}, std::vector<double>{1}), 1);
  EXPECT_EQ(mann_whitney_p(std::vector<double>{3, 3}, std::vector<double>{3, 3, 3}), 1);
  EXPECT_EQ(mann_whitney_p(std::vector<double>{1}, std::vector<double>{2}), 1);
}

TEST(MannWhitney, EqualDistributionsDifferAsOftenAsTheLevelSays) {
  std::mt19937_64 engine(7);
  std::exponential_distribution<double> exponential;
  int below = 0;
  constexpr int trials = 4000;
  for (int trial = 0; trial < trials; ++trial) {
    std::vector<double> a(9);
    std::vector<double> b(12);
    for (double& x : a) x = exponential(engine);
    for (double& x : b) x = exponential(engine);
    below += mann_whitney_p(a, b) <= 0.05;
  }
  // The largest possible level up to 0.05 is 0.0491 for 9 + 12 values; 4 standard errors are 0.014.
  EXPECT_LE(below, 0.064 * trials);
  EXPECT_GE(below, 0.034 * trials);
}

TEST(MannWhitney, LimitsAreThoseOfTheTest) {
  const MannWhitneyLimits limits(12, 0.002);
  for (int a = 1; a <= 12; ++a)
    for (int b = 1; b <= 12; ++b) {
      const double limit = limits.limit(static_cast<std::size_t>(a), static_cast<std::size_t>(b));
      // The first value of b moved down by so many values of a.
      const auto moved = [&](double out_of_order) {
        std::vector<double> second = range(a, b);
        double left = out_of_order;
        for (double& y : second) {
          const double step = std::min(left, static_cast<double>(a));
          y = step == 0 ? y : a - step - 0.5 + 0.01 * (y - a);
          left -= step;
        }
        return mann_whitney_p(range(0, a), second);
      };
      if (limit >= 0) {
        EXPECT_LE(moved(limit), 0.002) << a << " and " << b;
      }
      if (2 * (limit + 1) < a * b) {
        EXPECT_GT(moved(limit + 1), 0.002) << a << " and " << b;
      }
    }
  EXPECT_EQ(limits.limit(7, 7), 1);  // 2 of 3432 orders a side; with one pair more 4
  EXPECT_LT(limits.limit(5, 5), 0);
}

}  // namespace
}  // namespace gpubench
