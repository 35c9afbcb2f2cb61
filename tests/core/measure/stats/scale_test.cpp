#include "core/measure/stats/scale.h"

#include <cmath>
#include <gtest/gtest.h>
#include <random>
#include <vector>

namespace gpubench {
namespace {

std::vector<double> normal_values(std::size_t count, std::mt19937_64& engine) {
  std::normal_distribution<double> normal(100, 3);
  std::vector<double> values;
  for (std::size_t i = 0; i < count; ++i) values.push_back(normal(engine));
  return values;
}

TEST(QnScale, IsTheDeviationOfNormalValuesInTheMean) {
  std::mt19937_64 engine(1);
  for (const std::size_t count : {5, 9, 10, 11, 40}) {
    double sum = 0;
    constexpr int samples = 4000;
    for (int i = 0; i < samples; ++i) sum += qn_scale(normal_values(count, engine));
    EXPECT_NEAR(sum / samples, 3, 0.1) << count;
  }
}

TEST(QnScale, OutliersHardlyMoveIt) {
  std::mt19937_64 engine(2);
  std::vector<double> values = normal_values(40, engine);
  const double before = qn_scale(values);
  for (std::size_t i = 0; i < 12; ++i) values[i] += 1e6 * static_cast<double>(i + 1);
  EXPECT_LT(qn_scale(values), 3 * before);
}

TEST(QnScale, OfFewOrEqualValues) {
  EXPECT_EQ(qn_scale({}), 0);
  EXPECT_EQ(qn_scale(std::vector<double>{7}), 0);
  EXPECT_EQ(qn_scale(std::vector<double>(10, 7.0)), 0);
  EXPECT_NEAR(qn_scale(std::vector<double>{1, 2}), 0.399 * 2.2219, 1e-12);
}

}  // namespace
}  // namespace gpubench
