#include "core/base/bounded_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <memory>
#include <thread>

namespace gpubench {
namespace {

using Queue = BoundedQueue<int>;
constexpr std::chrono::hours for_ever{1};
constexpr std::chrono::nanoseconds not_at_all{0};

int popped(Queue& queue) {
  int item = -1;
  return queue.pop(item, for_ever) == Queue::Pop::item ? item : -1;
}

bool push(Queue& queue, int item) {
  return queue.push(item);
}

TEST(BoundedQueue, FirstInFirstOut) {
  Queue queue(3);
  for (int round = 0; round < 5; ++round) {
    EXPECT_TRUE(push(queue, 1));
    EXPECT_TRUE(push(queue, 2));
    EXPECT_EQ(queue.size(), 2U);
    EXPECT_EQ(popped(queue), 1);
    EXPECT_EQ(popped(queue), 2);
  }
}

TEST(BoundedQueue, CountsAWaitThatLasts) {
  Queue queue(1);
  ASSERT_TRUE(push(queue, 1));
  std::thread writer([&] { push(queue, 2); });
  while (queue.waited().second.count() < 0.02) std::this_thread::yield();
  const double so_far = queue.waited().second.count();
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_GE(queue.waited().second.count(), so_far + 0.004) << "the writer waits still";
  EXPECT_EQ(popped(queue), 1);
  writer.join();
  const double in_all = queue.waited().second.count();
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  EXPECT_EQ(queue.waited().second.count(), in_all);
}

TEST(BoundedQueue, GivesUpAfterItsPatience) {
  Queue queue(1);
  int item = 7;
  EXPECT_EQ(queue.pop(item, not_at_all), Queue::Pop::timed_out);
  EXPECT_EQ(item, 7);
}

TEST(BoundedQueue, CloseLetsReadersFinish) {
  Queue queue(2);
  push(queue, 1);
  queue.close();
  EXPECT_FALSE(push(queue, 2));
  EXPECT_EQ(popped(queue), 1);
  int item = 0;
  EXPECT_EQ(queue.pop(item, for_ever), Queue::Pop::closed);
}

TEST(BoundedQueue, ItemsAreSwappedSoMemoryCirculates) {
  BoundedQueue<std::vector<int>> queue(1);
  std::vector<int> item(1000, 3);
  const int* const memory = item.data();
  queue.push(item);
  EXPECT_TRUE(item.empty());
  std::vector<int> other(10, 4);
  const int* const other_memory = other.data();
  queue.pop(other, for_ever);
  EXPECT_EQ(other.data(), memory);
  queue.push(item);
  EXPECT_EQ(item.data(), other_memory);
}

TEST(BoundedQueue, ChangesItsCapacityWithoutLosingItems) {
  Queue queue(2);
  push(queue, 0);
  push(queue, 1);
  popped(queue);
  push(queue, 2);
  queue.set_capacity(4);
  push(queue, 3);
  push(queue, 4);
  EXPECT_EQ(queue.size(), 4U);
  queue.set_capacity(1);
  for (int i = 1; i <= 4; ++i) EXPECT_EQ(popped(queue), i);
  EXPECT_EQ(queue.capacity(), 1U);
}

TEST(BoundedQueue, NeverHoldsMoreThanItsCapacityAndLosesNothing) {
  constexpr int items = 20000;
  Queue queue(4);
  std::thread writer([&] {
    for (int i = 0; i < items; ++i) push(queue, i);
    queue.close();
  });
  int expected = 0;
  int item = -1;
  while (queue.pop(item, for_ever) == Queue::Pop::item) {
    EXPECT_LE(queue.size(), 4U);
    ASSERT_EQ(item, expected++);
  }
  writer.join();
  EXPECT_EQ(expected, items);
}

TEST(BoundedQueue, SeveralWritersAndReadersShareIt) {
  constexpr int writers = 3;
  constexpr int readers = 3;
  constexpr int items = 3000;
  Queue queue(5);
  std::atomic<std::int64_t> sum{0};
  std::vector<std::thread> reading;
  for (int r = 0; r < readers; ++r) {
    reading.emplace_back([&] {
      for (int item = 0; queue.pop(item, for_ever) == Queue::Pop::item;) sum += item;
    });
  }
  std::vector<std::thread> writing;
  for (int w = 0; w < writers; ++w) {
    writing.emplace_back([&] {
      for (int i = 1; i <= items; ++i) push(queue, i);
    });
  }
  for (std::thread& thread : writing) thread.join();
  queue.close();
  for (std::thread& thread : reading) thread.join();
  EXPECT_EQ(sum, std::int64_t{writers} * items * (items + 1) / 2);
}

TEST(BoundedQueue, CloseWakesAWriterThatWaits) {
  Queue queue(1);
  push(queue, 1);
  bool pushed = true;
  std::thread writer([&] { pushed = push(queue, 2); });
  queue.close();
  writer.join();
  EXPECT_FALSE(pushed);
}

TEST(BoundedQueue, TellsHowLongReadersWaited) {
  Queue queue(1);
  int item = 0;
  queue.pop(item, std::chrono::microseconds(1));
  EXPECT_GT(queue.waited().first.count(), 0.0);
  EXPECT_EQ(queue.waited().second.count(), 0.0);
}

}  // namespace
}  // namespace gpubench
