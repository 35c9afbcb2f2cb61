#include "core/measure/warmup.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/expect_error.h"

namespace gpubench {
namespace {

using ::testing::HasSubstr;

TEST(Warmup, EndsOnceThreeWindowsAgree) {
  Warmup warmup({});
  EXPECT_FALSE(warmup.add(0.05));  // a slow first step, which fills no window of three steps alone
  int steps = 1;
  do {
    ++steps;
  } while (!warmup.add(0.001));
  EXPECT_TRUE(warmup.settled());
  // 3 steps end the first window, 20 ms each of the next two.
  EXPECT_NEAR(steps, 43, 2);
  EXPECT_EQ(warmup.steps(), static_cast<std::size_t>(steps));
  EXPECT_THAT(warmup.reason(), HasSubstr("settled after"));
}

TEST(Warmup, WaitsWhileStepsGetFaster) {
  Warmup warmup({.window_steps = 3, .window_time = Seconds(0.01), .tolerance = 0.05, .max_time = Seconds(10)});
  double step = 0.02;
  while (!warmup.add(step)) step = std::max(0.005, step * 0.97);
  EXPECT_TRUE(warmup.settled());
  EXPECT_DOUBLE_EQ(step, 0.005);
}

TEST(Warmup, EndsUnsettledAtItsTimeLimit) {
  Warmup warmup({.window_steps = 3, .window_time = Seconds(0.01), .tolerance = 0.05, .max_time = Seconds(0.5)});
  double step = 0.001;
  while (!warmup.add(step)) step *= 1.1;
  EXPECT_FALSE(warmup.settled());
  EXPECT_GE(warmup.elapsed().count(), 0.5);
  EXPECT_THAT(warmup.reason(), HasSubstr("not settled after"));
}

TEST(Warmup, ComparesThreeWindowsHoweverLongAStepTakes) {
  for (const double step : {0.07, 0.4}) {  // nine steps take longer than the time limit
    Warmup warmup({});
    std::size_t steps = 1;
    while (!warmup.add(step)) ++steps;
    EXPECT_TRUE(warmup.settled()) << step;
    EXPECT_EQ(steps, step > 0.1 ? 3U : 6U);
  }
  Warmup unsteady({});
  for (const double step : {1.0, 0.9, 0.8, 0.7, 0.6}) EXPECT_FALSE(unsteady.add(step));
  EXPECT_TRUE(unsteady.add(0.5));
  EXPECT_FALSE(unsteady.settled());
}

TEST(Warmup, RefusesImpossibleLimits) {
  EXPECT_ERROR(HasSubstr("all must be above 0"), Warmup({.tolerance = 0}));
}

}  // namespace
}  // namespace gpubench
