#include "core/comm/side_queue.h"

#include <atomic>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdexcept>
#include <vector>

namespace gpubench {
namespace {

SideQueue::Work work(std::function<void()> body) {
  SideQueue::Work one;
  one.carry_out = [body = std::move(body)](Clock::duration) { body(); };
  return one;
}

TEST(SideQueue, works_in_order_whoever_is_free) {
  SideQueue queue;
  std::vector<int> order;  // unguarded: only one works at a time
  SideQueue::Work one = work([&] { order.push_back(1); }), two = work([&] { order.push_back(2); }),
                  three = work([&] { order.push_back(3); });
  std::vector<int> expected;
  for (int round = 0; round < 300; ++round) {
    queue.push(one);
    queue.push(two);
    queue.push(three);
    if (round % 2 == 0) queue.finish(one);
    if (round % 3 == 0) queue.finish(three);
    queue.drain();
    queue.finish(two);
    expected.insert(expected.end(), {1, 2, 3});
  }
  EXPECT_EQ(order, expected);
}

TEST(SideQueue, what_is_left_to_it_is_done_without_help) {
  SideQueue queue;
  std::atomic<int> done = 0;
  SideQueue::Work one = work([&] { ++done; }), two = work([&] { ++done; });
  for (int round = 1; round <= 200; ++round) {
    queue.push(one);
    queue.push(two);
    queue.finish(one);
    while (done < 2 * round) std::this_thread::yield();
    queue.finish(two);
  }
  EXPECT_EQ(done, 400);
}

TEST(SideQueue, hands_on_what_a_work_threw_once) {
  SideQueue queue;
  SideQueue::Work failing = work([] { throw std::runtime_error("lost"); });
  queue.push(failing);
  EXPECT_THAT([&] { queue.finish(failing); }, testing::ThrowsMessage<std::runtime_error>("lost"));
  EXPECT_NO_THROW(queue.finish(failing));
}

TEST(SideQueue, undone_work_can_be_withdrawn_and_may_outlive_the_queue) {
  std::atomic<bool> go = false, begun = false;
  int ran = 0;
  SideQueue::Work slow = work([&] {
    begun = true;
    while (!go) std::this_thread::yield();
  });
  SideQueue::Work never = work([&] { ++ran; }), left = work([&] { ++ran; });
  {
    SideQueue queue;
    queue.push(slow);
    while (!begun) std::this_thread::yield();
    queue.push(never);
    queue.push(left);
    EXPECT_TRUE(queue.withdraw(never));
    std::thread release([&] { go = true; });
    EXPECT_FALSE(queue.withdraw(slow));
    release.join();
    queue.withdraw(left);
  }
  EXPECT_LE(ran, 1);
}

}  // namespace
}  // namespace gpubench
