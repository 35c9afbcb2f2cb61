#include "core/measure/stats/binomial.h"

#include <cmath>
#include <gtest/gtest.h>

namespace gpubench {
namespace {

TEST(BinomialTail, IsThatOfTheDistribution) {
  EXPECT_NEAR(binomial_tail(2, 3, 0.5), 0.5, 1e-12);
  EXPECT_NEAR(binomial_tail(3, 3, 0.01), 1e-6, 1e-12);
  EXPECT_NEAR(binomial_tail(0, 10, 0.3), 1, 1e-12);
}

}  // namespace
}  // namespace gpubench
