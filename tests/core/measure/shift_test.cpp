#include "core/measure/shift.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <gtest/gtest.h>
#include <random>

#include "core/measure/stats/mann_whitney.h"

namespace gpubench {
namespace {

std::vector<double> drawn(std::size_t count, std::mt19937_64& engine, const std::function<double(double)>& of_normal) {
  std::normal_distribution<double> normal;
  std::vector<double> values;
  for (std::size_t i = 0; i < count; ++i) values.push_back(of_normal(normal(engine)));
  return values;
}

/// Share of trials in which the interval of this error covers the shift.
double coverage(std::size_t a, std::size_t b, double error, const std::function<double(double)>& of_normal) {
  constexpr int trials = 4000;
  constexpr double shift = 0.3;
  std::mt19937_64 engine(7);
  int covered = 0;
  for (int trial = 0; trial < trials; ++trial) {
    std::vector<double> after = drawn(b, engine, of_normal);
    for (double& one : after) one += shift;
    covered += Shift(drawn(a, engine, of_normal), after).interval(error).contains(shift);
  }
  return static_cast<double>(covered) / trials;
}

TEST(Shift, IsTheMedianOfAllDifferences) {
  EXPECT_EQ(Shift({1}, {4}).value(), 3);
  EXPECT_EQ(Shift({3, 1}, {5, 10}).value(), (4 + 7) / 2.0) << "of 2, 4, 7 and 9";
  EXPECT_EQ(Shift({2, 2, 2}, {2, 2, 2}).value(), 0);
  EXPECT_EQ(Shift({1, 2, 1000}, {11, 12, 13}).value(), 10) << "one far value does not move it";
}

// Against all differences, sorted.
TEST(Shift, FindsEveryDifferenceExactly) {
  std::mt19937_64 engine(3);
  for (const std::size_t size : {7, 8, 13}) {
    const std::vector<double> a = drawn(size, engine, [](double x) { return std::round(4 * x) / 4; });
    const std::vector<double> b = drawn(size + 2, engine, [](double x) { return std::exp(x); });
    std::vector<double> differences;
    for (const double x : a)
      for (const double y : b) differences.push_back(y - x);
    std::ranges::sort(differences);
    // The least and the largest difference, and those further in.
    EXPECT_EQ(Shift(a, b).interval(0.05).low, differences[*largest_u(a.size(), b.size(), 0.05)]);
    EXPECT_EQ(Shift(a, b).interval(0.5).high,
              differences[differences.size() - 1 - *largest_u(a.size(), b.size(), 0.5)]);
  }
}

TEST(Shift, OfManyValuesIsFoundWithoutAllPairs) {
  std::mt19937_64 engine(5);
  const Shift shift(drawn(20'000, engine, [](double x) { return x; }),
                    drawn(20'000, engine, [](double x) { return x + 1; }));
  EXPECT_NEAR(shift.value(), 1, 0.03);
  const Interval interval = shift.interval(0.05);
  EXPECT_TRUE(interval.contains(shift.value()));
  EXPECT_NEAR(interval.high - interval.low, 2 * 1.96 * std::sqrt(2 / 20'000.0) * 1.023, 0.005);
}

TEST(Shift, IntervalsCoverIt) {
  const auto normal = [](double x) { return x; };
  const auto skewed = [](double x) { return std::exp(x); };
  const auto two_states = [](double x) { return x > 0 ? 10 + 0.1 * x : 0.1 * x; };
  for (const std::size_t size : {7, 10, 20}) {
    EXPECT_NEAR(coverage(size, size, 0.05, normal), 0.955, 0.012) << size;
    EXPECT_NEAR(coverage(size, size, 0.05, skewed), 0.955, 0.012) << size;
    EXPECT_NEAR(coverage(size, size, 0.05, two_states), 0.955, 0.012) << size;
  }
  EXPECT_GE(coverage(5, 30, 0.02, normal), 0.975);
}

TEST(Shift, FewValuesHaveNoInterval) {
  EXPECT_TRUE(std::isinf(Shift({1, 2}, {1, 2}).interval(0.05).high));
  EXPECT_TRUE(std::isinf(Shift({1}, {1, 2, 3}).interval(0.05).low));
}

TEST(Shift, EqualValuesHaveAnIntervalOfNoWidth) {
  const std::vector<double> equal(7, 2.0);
  EXPECT_EQ(Shift(equal, equal).interval(0.05), (Interval{0, 0}));
}

}  // namespace
}  // namespace gpubench
