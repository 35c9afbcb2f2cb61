#include "core/trace/span_clock.h"

#include <algorithm>
#include <gtest/gtest.h>

namespace gpubench {
namespace {

/// Reads between two readings of the clock, in which an interrupt may fall; so the closest of many counts.
TEST(SpanClock, AgreesWithTheClock) {
  const SpanClock spans;
  Clock::duration least = Clock::duration::max();
  for (int attempt = 0; attempt < 1000; ++attempt) {
    const Clock::time_point before = Clock::now(), between = spans.now(), after = Clock::now();
    const Clock::duration error = std::max({Clock::duration{}, before - between, between - after});
    least = std::min(least, error);
  }
  EXPECT_LT(least, std::chrono::microseconds(1));
}

TEST(SpanClock, NeverRunsBackwards) {
  const SpanClock spans;
  Clock::time_point last = spans.now();
  for (int reading = 0; reading < 1000; ++reading) {
    const Clock::time_point now = spans.now();
    EXPECT_GE(now, last);
    last = now;
  }
}

}  // namespace
}  // namespace gpubench
