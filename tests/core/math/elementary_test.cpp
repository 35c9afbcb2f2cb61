#include "core/math/elementary.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <limits>

#include "core/math/functions.h"
#include "core/math/philox.h"

namespace gpubench {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float nan = std::numeric_limits<float>::quiet_NaN();

/// The largest relative error of f over [low, high], walked in steps that hit no pattern.
double largest_error(float (*f)(float), double (*exact)(double), double low, double high) {
  constexpr int points = 200003;
  double largest = 0;
  for (int i = 0; i <= points; ++i) {
    const float x = static_cast<float>(low + (high - low) * i / points);
    const double want = exact(static_cast<double>(x));
    if (want != 0) largest = std::max(largest, std::abs((static_cast<double>(f(x)) - want) / want));
  }
  return largest;
}

double exact_cdf(double x) {
  return 0.5 * std::erfc(-x / std::sqrt(2.0));
}
double exact_sigmoid(double x) {
  return 1 / (1 + std::exp(-x));
}

TEST(ElementaryTest, ExpIsAccurateWhereResultsAreNormal) {
  EXPECT_LT(largest_error(&math::exp, &std::exp, -87, 88.7), 2e-7);
}

TEST(ElementaryTest, ExpReachesItsLimits) {
  EXPECT_EQ(math::exp(0), 1);
  EXPECT_EQ(math::exp(89), infinity);
  EXPECT_EQ(math::exp(infinity), infinity);
  EXPECT_EQ(math::exp(-infinity), 0);
  EXPECT_EQ(math::exp(-200), 0);
  EXPECT_NEAR(math::exp(-100), std::exp(-100.0), 2e-45);  // denormal
  EXPECT_TRUE(std::isnan(math::exp(nan)));
}

TEST(ElementaryTest, LogIsAccurate) {
  EXPECT_LT(largest_error(&math::log, &std::log, 1e-3, 0.9), 2e-7);
  EXPECT_LT(largest_error(&math::log, &std::log, 0.9, 1.1), 2e-7);
  EXPECT_LT(largest_error(&math::log, &std::log, 1.1, 1e6), 2e-7);
  EXPECT_LT(largest_error(&math::log, &std::log, 1e30, 3e38), 2e-7);
  EXPECT_NEAR(math::log(1e-40F), std::log(static_cast<double>(1e-40F)), 1e-5);  // denormal
}

TEST(ElementaryTest, LogReachesItsLimits) {
  EXPECT_EQ(math::log(1), 0);
  EXPECT_EQ(math::log(0), -infinity);
  EXPECT_EQ(math::log(-0.0F), -infinity);
  EXPECT_EQ(math::log(infinity), infinity);
  EXPECT_TRUE(std::isnan(math::log(-1)));
  EXPECT_TRUE(std::isnan(math::log(nan)));
}

TEST(ElementaryTest, TanhIsAccurateAndOdd) {
  EXPECT_LT(largest_error(&math::tanh, &std::tanh, -12, 12), 4e-7);
  EXPECT_LT(largest_error(&math::tanh, &std::tanh, -1e-3, 1e-3), 4e-7);
  EXPECT_EQ(math::tanh(-0.3F), -math::tanh(0.3F));
  EXPECT_EQ(math::tanh(infinity), 1);
  EXPECT_EQ(math::tanh(-infinity), -1);
  EXPECT_TRUE(std::isnan(math::tanh(nan)));
}

TEST(ElementaryTest, SigmoidIsAccurateInBothTails) {
  EXPECT_LT(largest_error(&math::sigmoid, &exact_sigmoid, -87, 20), 3e-7);
  EXPECT_EQ(math::sigmoid(infinity), 1);
  EXPECT_EQ(math::sigmoid(-infinity), 0);
}

TEST(ElementaryTest, NormalDistributionIsAccurateInTheLowerTail) {
  EXPECT_LT(largest_error(&math::normal_cdf, &exact_cdf, -3, 8), 2e-6);
  EXPECT_LT(largest_error(&math::normal_cdf, &exact_cdf, -8, -3), 1e-5);  // exp(-x^2 / 2) carries the rounding of x^2
  EXPECT_TRUE(std::isnan(math::normal_cdf(nan)));
}

/// The largest error of f over [low, high], of which f's values are at most 1.
double largest_difference(float (*f)(float), double (*exact)(double), double low, double high) {
  constexpr int points = 200003;
  double largest = 0;
  for (int i = 0; i <= points; ++i) {
    const float x = static_cast<float>(low + (high - low) * i / points);
    largest = std::max(largest, std::abs(static_cast<double>(f(x)) - exact(static_cast<double>(x))));
  }
  return largest;
}

TEST(ElementaryTest, SineAndCosineAreAccurateForLargeAngles) {
  for (const double far : {4.0, 1e3, 1e6, 1e9}) {
    EXPECT_LT(largest_difference(&math::sine, &std::sin, -far, far), 1.5e-7) << far;
    EXPECT_LT(largest_difference(&math::cosine, &std::cos, -far, far), 1.5e-7) << far;
  }
  EXPECT_LT(largest_error(&math::sine, &std::sin, -0.8, 0.8), 2e-7);
  EXPECT_LT(largest_error(&math::tangent, &std::tan, -1.5, 1.5), 5e-7);
  EXPECT_EQ(math::sine(-0.3F), -math::sine(0.3F));
}

TEST(ElementaryTest, AnglesThatCannotBeReducedAreNotNumbers) {
  for (const float x : {1.1e9F, -1.1e9F, infinity, -infinity, nan}) {
    EXPECT_TRUE(std::isnan(math::sine(x)) && std::isnan(math::cosine(x)) && std::isnan(math::tangent(x))) << x;
  }
}

TEST(ElementaryTest, ArctangentIsAccurate) {
  EXPECT_LT(largest_error(&math::arctangent, &std::atan, -10, 10), 3e-7);
  EXPECT_LT(largest_error(&math::arctangent, &std::atan, -1e4, 1e4), 3e-7);
  EXPECT_FLOAT_EQ(math::arctangent(infinity), static_cast<float>(M_PI / 2));
  EXPECT_FLOAT_EQ(math::arctangent(-infinity), static_cast<float>(-M_PI / 2));
  EXPECT_TRUE(std::isnan(math::arctangent(nan)));
}

TEST(ElementaryTest, Expm1AndLog1pAreAccurateNearZero) {
  EXPECT_LT(largest_error(&math::expm1, &std::expm1, -1e-3, 1e-3), 3e-7);
  EXPECT_LT(largest_error(&math::expm1, &std::expm1, -10, 10), 2e-6);
  EXPECT_EQ(math::expm1(-infinity), -1);
  EXPECT_EQ(math::expm1(infinity), infinity);
  EXPECT_TRUE(std::isnan(math::expm1(nan)));
  EXPECT_LT(largest_error(&math::log1p, &std::log1p, -1e-3, 1e-3), 4e-7);
  EXPECT_LT(largest_error(&math::log1p, &std::log1p, -0.99, 100), 4e-7);
  EXPECT_LT(largest_error(&math::log1p, &std::log1p, 1e7, 1e9), 4e-7);
  EXPECT_EQ(math::log1p(-1), -infinity);
  EXPECT_EQ(math::log1p(infinity), infinity);
  EXPECT_TRUE(std::isnan(math::log1p(-2)) && std::isnan(math::log1p(nan)));
}

TEST(ElementaryTest, CosineOfTurns) {
  for (int i = 0; i < 10007; ++i) {
    const float u = static_cast<float>(i) / 10007.0F;
    EXPECT_NEAR(math::cos_turns(u), std::cos(2 * M_PI * static_cast<double>(u)), 3e-7);
  }
}

TEST(UnaryFunctionTest, ReluKeepsNotANumber) {
  EXPECT_TRUE(std::isnan(math::Relu{}(nan)));
  EXPECT_EQ(math::Relu{}(-1.0F), 0);
}

}  // namespace
}  // namespace gpubench
