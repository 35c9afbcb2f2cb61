#include "core/comm/waitable_count.h"

#include <atomic>
#include <gtest/gtest.h>
#include <thread>

namespace gpubench {
namespace {

TEST(Progress, waits_for_a_count_and_wraps_around) {
  Progress progress;
  EXPECT_TRUE(progress.reached(0));
  EXPECT_FALSE(progress.reached(1));
  progress.raise();
  progress.raise();
  EXPECT_TRUE(progress.reached(2));
  EXPECT_FALSE(progress.reached(3));
  EXPECT_TRUE(progress.reached(static_cast<std::uint32_t>(-1)));
  EXPECT_TRUE(progress.wait(2, spin_time));
}

TEST(Progress, ended_it_keeps_what_it_reached) {
  Progress progress;
  progress.raise();
  progress.end();
  EXPECT_TRUE(progress.wait(1, spin_time));
  EXPECT_FALSE(progress.wait(2, spin_time));
  progress.raise();
  EXPECT_TRUE(progress.wait(2, spin_time));
}

TEST(Progress, wakes_those_who_sleep) {
  Progress mine, others;
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
