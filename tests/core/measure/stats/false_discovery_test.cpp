#include "core/measure/stats/false_discovery.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gpubench {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;

TEST(FalseDiscovery, RatesOfBenjaminiAndHochberg) {
  // Sorted: 0.005 * 4 / 1, 0.01 * 4 / 2, 0.03 * 4 / 3, 0.04 * 4 / 4; none above the next larger one.
  const std::vector<double> p{0.01, 0.04, 0.03, 0.005};
  const auto near = [](double value) { return DoubleNear(value, 1e-12); };
  EXPECT_THAT(false_discovery_rates(p), ElementsAre(near(0.02), near(0.04), near(0.04), near(0.02)));
  EXPECT_THAT(false_discovery_rates({}), ElementsAre());
  EXPECT_THAT(false_discovery_rates(std::vector<double>{0.9, 0.8}), ElementsAre(near(0.9), near(0.9)));
}

TEST(FalseDiscovery, AttainedLevelIsTheLargestPossiblePBelowTheLimit) {
  // Seven a side: p is 2 / C(14, 7) for complete separation, twice that for one pair out of order, four times for two.
  EXPECT_NEAR(attained_level(7, 7, 0.002), 4.0 / 3432, 1e-12);
  EXPECT_EQ(attained_level(6, 6, 0.002), 0) << "2 / C(12, 6) = 0.0022";
  const double level = attained_level(10, 10, 0.002);
  EXPECT_GT(level, 0.001);
  EXPECT_LT(level, 0.002);
  EXPECT_EQ(attained_level(100, 100, 0.002), 0.002);
}

}  // namespace
}  // namespace gpubench
