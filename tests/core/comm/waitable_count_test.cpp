#include "core/comm/waitable_count.h"

#include <atomic>
#include <gtest/gtest.h>
#include <thread>

namespace gpubench {
namespace {

TEST(WaitableCount, waits_for_a_count_and_wraps_around) {
  WaitableCount count;
  EXPECT_TRUE(count.reached(0));
  EXPECT_FALSE(count.reached(1));
  count.raise();
  count.raise();
  EXPECT_TRUE(count.reached(2));
  EXPECT_FALSE(count.reached(3));
  EXPECT_TRUE(count.reached(static_cast<std::uint32_t>(-1)));
  EXPECT_TRUE(count.wait(2, spin_time));
}

TEST(WaitableCount, ended_it_keeps_what_it_reached) {
  WaitableCount count;
  count.raise();
  count.end();
  EXPECT_TRUE(count.wait(1, spin_time));
  EXPECT_FALSE(count.wait(2, spin_time));
  count.raise();
  EXPECT_TRUE(count.wait(2, spin_time));
}

TEST(WaitableCount, wakes_those_who_sleep) {
  WaitableCount mine, others;
  std::atomic<bool> ended_seen = false;
  constexpr std::uint32_t rounds = 2000;
  std::thread other([&] {
    for (std::uint32_t round = 1; round <= rounds; ++round) {
      EXPECT_TRUE(mine.wait(round, Clock::duration::zero()));
      others.raise();
    }
    ended_seen = !mine.wait(rounds + 1, Clock::duration::zero());
  });
  for (std::uint32_t round = 1; round <= rounds; ++round) {
    mine.raise();
    EXPECT_TRUE(others.wait(round, Clock::duration::zero()));
  }
  mine.end();
  other.join();
  EXPECT_TRUE(ended_seen);
}

}  // namespace
}  // namespace gpubench
