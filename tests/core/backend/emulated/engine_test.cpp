#include "core/backend/emulated/engine.h"

#include <gtest/gtest.h>

namespace gpubench {
namespace {

using std::chrono::seconds;

class EngineTest : public testing::Test {
 protected:
  /// Seconds after the start, at which the booking begins.
  double begin(int ready, int length) {
    return Seconds(engine_.book(start_ + seconds(ready), seconds(length)).begin - start_).count();
  }
  Engine engine_;
  Clock::time_point start_ = Clock::now();
};

TEST_F(EngineTest, work_follows_earlier_work) {
  EXPECT_EQ(begin(0, 5), 0);
  EXPECT_EQ(begin(0, 5), 5);
  EXPECT_EQ(begin(20, 5), 20);
}

TEST_F(EngineTest, a_gap_that_is_long_enough_is_filled) {
  EXPECT_EQ(begin(0, 5), 0);
  EXPECT_EQ(begin(10, 5), 10);
  EXPECT_EQ(begin(0, 6), 15) << "5 s are too short";
  EXPECT_EQ(begin(0, 3), 5);
  EXPECT_EQ(begin(0, 2), 8) << "the gap ends where the next work begins";
  EXPECT_EQ(begin(0, 1), 21);
}

TEST_F(EngineTest, work_that_is_ready_within_a_gap_begins_there) {
  EXPECT_EQ(begin(0, 2), 0);
  EXPECT_EQ(begin(10, 2), 10);
  EXPECT_EQ(begin(5, 3), 5);
  EXPECT_EQ(begin(1, 3), 2);
  EXPECT_EQ(begin(6, 2), 8);
}

}  // namespace
}  // namespace gpubench
