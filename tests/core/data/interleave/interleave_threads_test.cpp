// Interleave with threads: the same elements in the same order, errors in their places, as many threads as were asked
// for and no more, inputs ahead, and ends at any moment.
#include <atomic>
#include <condition_variable>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <mutex>
#include <set>
#include <thread>

#include "core/base/interrupt.h"
#include "core/data/interleave/interleave.h"
#include "core/data/source/range.h"
#include "core/data/stage/batch.h"
#include "core/data/stage/by_position.h"
#include "core/data/stage/filter.h"
#include "core/data/stage/ignore_errors.h"
#include "core/data/stage/repeat.h"
#include "core/data/stage/throttle.h"
#include "tests/core/data/awaited_count.h"
#include "tests/core/data/functions.h"
#include "tests/core/data/heap_pool.h"
#include "tests/core/data/reading.h"
#include "tests/core/data/stuck_ticker.h"
#include "tests/core/data/watched_input.h"

namespace gpubench {
namespace {

using testing::Each;
using testing::ThrowsMessage;
using testing::UnorderedElementsAreArray;

DatasetPtr nothing() {
  return filter(numbers(1), std::make_shared<Predicate>([](std::int64_t /*number*/) { return false; }));
}

/// Inputs of these lengths, whose numbers follow on each other.
std::vector<DatasetPtr> parts(const std::vector<std::int64_t>& lengths) {
  std::vector<DatasetPtr> inputs;
  std::int64_t first = 0;
  for (const std::int64_t length : lengths) {
    inputs.push_back(length > 0 ? skip(numbers(first + length), first) : nothing());
    first += length;
  }
  return inputs;
}

/// Calls `check` with the options of cycles and blocks of several lengths.
template <class Check>
void for_each_turns(const Check& check) {
  for (const std::int64_t cycle : {1, 3, 20}) {
    for (const std::int64_t block : {1, 7, 300}) check(InterleaveOptions{.cycle_length = cycle, .block_length = block});
  }
}

TEST(InterleaveThreads, DoNotChangeTheOrder) {
  const std::vector<DatasetPtr> inputs = parts({3, 0, 40, 1, 0, 0, 400, 5, 100, 2});
  for_each_turns([&](InterleaveOptions options) {
    const std::vector<std::int64_t> order = read(interleave(inputs, options));
    for (const std::int64_t threads : {1, 3, 20}) {
      options.parallel = threads;
      EXPECT_EQ(read(interleave(inputs, options)), order);
      EXPECT_EQ(read(batch(interleave(inputs, options), 3)), order);
      options.deterministic = false;
      EXPECT_THAT(read(interleave(inputs, options)), UnorderedElementsAreArray(order));
      options.deterministic = true;
    }
  });
}

TEST(InterleaveThreads, DoNotChangeTheOrderOfLargeElements) {
  constexpr std::int64_t too_wide_to_be_packed = 200;
  const std::vector<DatasetPtr> inputs{numbers(40, too_wide_to_be_packed),
                                       skip(numbers(70, too_wide_to_be_packed), 40)};
  for_each_turns([&](InterleaveOptions options) {
    const std::vector<std::int64_t> order = read(interleave(inputs, options));
    EXPECT_EQ(order.size(), 70U);
    options.parallel = 2;
    EXPECT_EQ(read(interleave(inputs, options)), order);
    EXPECT_EQ(read(batch(interleave(inputs, options), 3)), order);
  });
}

TEST(InterleaveThreads, CopySmallElementsAndHandLargeOnesOver) {
  const auto taken_from_memory = [](std::int64_t width) {
    const std::unique_ptr<MemoryPool> pool = heap_pool();
    const DatasetPtr dataset = interleave({numbers(9, width), numbers(9, width)}, {.cycle_length = 2, .parallel = 2});
    const std::unique_ptr<Cursor> cursor = dataset->open(0, {.memory = pool.get()});
    Element element;
    EXPECT_TRUE(cursor->next(element));
    return pool->use().in_use;
  };
  EXPECT_GT(taken_from_memory(2), 0U);
  EXPECT_EQ(taken_from_memory(200), 0U);  // rows of a tensor stand still
}

TEST(InterleaveThreads, AnElementDoesNotWaitForTheOneBehindIt) {
  for (const bool deterministic : {true, false}) {
    AwaitedCount taken;
    std::atomic<int> reads = 0;
    const DatasetPtr hesitant = watched(numbers(3), {.reads = [&] { taken.await(reads++); }});
    const std::unique_ptr<Cursor> cursor =
        interleave({hesitant}, {.parallel = 1, .deterministic = deterministic})->open();
    Element element;
    for (int i = 0; i < 3; ++i) {
      ASSERT_TRUE(cursor->next(element));
      taken.add();
    }
    EXPECT_FALSE(cursor->next(element));
  }
}

TEST(InterleaveThreads, GoOnWhereElementsWerePassedOver) {
  const std::vector<DatasetPtr> inputs = parts({3, 0, 40, 1, 20});
  for_each_turns([&](InterleaveOptions options) {
    const std::vector<std::int64_t> order = read(interleave(inputs, options));
    options.parallel = 2;
    for (const std::int64_t count : {1, 4, 40, 63}) {
      const std::unique_ptr<Cursor> cursor = interleave(inputs, options)->open();
      EXPECT_EQ(cursor->skip(count), count);
      EXPECT_EQ(read(*cursor), std::vector(order.begin() + count, order.end()));
      EXPECT_EQ(cursor->skip(1), 0);
    }
  });
}

/// Cannot be opened.
DatasetPtr missing() {
  return watched(numbers(3), {.opens = [] { throw Error("no such input"); }});
}

TEST(InterleaveThreads, ErrorsStandInTheirPlaces) {
  std::vector<DatasetPtr> inputs = parts({30, 9, 0, 40});
  inputs[1] = std::make_shared<Damaged>(inputs[1], 4);
  inputs.insert(inputs.begin(), missing());
  inputs.insert(inputs.begin() + 3, missing());
  const auto places_of_errors = [](Cursor& cursor) {
    std::vector<std::string> found;
    for (Element element;;) {
      try {
        if (!cursor.next(element)) return found;
        found.push_back(std::to_string(element[0].values<std::int64_t>()[0]));
      } catch (const Error& error) {
        found.push_back(error.what());
      }
    }
  };
  for_each_turns([&](InterleaveOptions options) {
    const std::vector<std::string> order = places_of_errors(*interleave(inputs, options)->open());
    EXPECT_EQ(order.size(), 79U + 3U);
    for (const std::int64_t threads : {1, 3, 8}) {
      options.parallel = threads;
      EXPECT_EQ(places_of_errors(*interleave(inputs, options)->open()), order);
      options.deterministic = false;
      EXPECT_THAT(places_of_errors(*interleave(inputs, options)->open()), UnorderedElementsAreArray(order));
      options.deterministic = true;
    }
  });
}

TEST(InterleaveThreads, ExceptionsThatAreNoErrorsEndIt) {
  const auto throws = [] { throw std::runtime_error("the machine is on fire"); };
  for (const DatasetPtr& broken : {watched(numbers(3), {.opens = throws}), watched(numbers(3), {.reads = throws})}) {
    for (const bool deterministic : {true, false}) {
      const DatasetPtr dataset =
          interleave({broken, numbers(3)}, {.cycle_length = 2, .parallel = 2, .deterministic = deterministic});
      const std::unique_ptr<Cursor> cursor = ignore_errors(dataset)->open();
      EXPECT_THAT([&] { read(*cursor); }, ThrowsMessage<std::runtime_error>("the machine is on fire"));
      EXPECT_THAT([&] { read(*cursor); }, ThrowsMessage<std::runtime_error>("the machine is on fire"));
    }
  }
}

/// Lets threads go on once so many are here together.
class Meeting {
 public:
  explicit Meeting(int threads) : threads_(threads) {}
  void meet() {
    std::unique_lock lock(mutex_);
    most_ = std::max(most_, ++here_);
    if (here_ == threads_) met_ = true;
    changed_.notify_all();
    changed_.wait(lock, [&] { return met_; });
    --here_;
  }
  int most() const {
    const std::lock_guard lock(mutex_);
    return most_;
  }

 private:
  const int threads_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  int here_ = 0;
  int most_ = 0;
  bool met_ = false;
};

TEST(InterleaveThreads, ReadSideBySideAlsoInputsThatComeNext) {
  for (const bool deterministic : {true, false}) {
    for (const int threads : {1, 2, 5}) {
      Meeting meeting(threads);
      const std::vector<DatasetPtr> inputs(9, watched(numbers(4), {.reads = [&] { meeting.meet(); }}));
      const DatasetPtr dataset =
          interleave(inputs, {.cycle_length = 2, .parallel = threads, .deterministic = deterministic});
      EXPECT_EQ(read(dataset).size(), 36U);
      EXPECT_EQ(meeting.most(), threads);
    }
  }
}

TEST(InterleaveThreads, AutotuneIsAThreadForEachInputOfTheCycleWhereTheyWait) {
  for (const bool deterministic : {true, false}) {
    Meeting meeting(7);
    const std::vector<DatasetPtr> inputs(9, watched(numbers(4), {.reads = [&] { meeting.meet(); }}));
    const DatasetPtr dataset =
        interleave(inputs, {.cycle_length = 7, .parallel = autotune, .deterministic = deterministic});
    const std::unique_ptr<Cursor> cursor = dataset->open();
    EXPECT_EQ(read(*cursor).size(), 36U);
    EXPECT_EQ(meeting.most(), 7);
    EXPECT_EQ(cursor->statistics().back().workers, 7);
  }
}

TEST(InterleaveThreads, ReadAndOpenEverythingTheConsumerDoesNot) {
  std::mutex mutex;
  std::set<std::thread::id> readers;
  const auto note = [&] {
    const std::lock_guard lock(mutex);
    readers.insert(std::this_thread::get_id());
  };
  const std::vector<DatasetPtr> inputs(6, watched(numbers(9), {.opens = note, .reads = note}));
  read(interleave(inputs, {.cycle_length = 4}));
  EXPECT_THAT(readers, Each(std::this_thread::get_id()));
  readers.clear();
  read(interleave(inputs, {.cycle_length = 4, .parallel = 2}));
  EXPECT_FALSE(readers.contains(std::this_thread::get_id()));
  EXPECT_LE(readers.size(), 2U);
}

TEST(InterleaveThreads, InAnyOrderNobodyWaitsForASlowInput) {
  const auto ticker = std::make_shared<StuckTicker>();
  const DatasetPtr slow = throttle(numbers(3), {.latency = std::chrono::hours(2)}, ticker);
  const std::unique_ptr<Cursor> cursor =
      interleave({slow, numbers(5), numbers(3)}, {.cycle_length = 2, .parallel = 2, .deterministic = false})->open();
  Element element;
  for (int i = 0; i < 8; ++i) EXPECT_TRUE(cursor->next(element));
}

TEST(InterleaveThreads, LeavingEarlyEndsTheThreads) {
  for (const bool deterministic : {true, false}) {
    const DatasetPtr dataset = interleave({repeat(numbers(3)), repeat(numbers(3)), repeat(numbers(3))},
                                          {.cycle_length = 3, .parallel = 3, .deterministic = deterministic});
    for (int i = 0; i < 20; ++i) EXPECT_EQ(read(take(dataset, 5)).size(), 5U);
    dataset->open();
  }
}

TEST(InterleaveThreads, LeavingEndsTheirWaiting) {
  for (const bool deterministic : {true, false}) {
    const auto ticker = std::make_shared<StuckTicker>();
    const DatasetPtr slow = throttle(numbers(3), {.latency = std::chrono::hours(2)}, ticker);
    std::unique_ptr<Cursor> cursor =
        interleave({numbers(9), slow, slow}, {.cycle_length = 2, .parallel = 3, .deterministic = deterministic})
            ->open();
    Element element;
    ASSERT_TRUE(cursor->next(element));
    ticker->waiting.wait(false);
    cursor.reset();  // comes back
    EXPECT_TRUE(ticker->waiting);
  }
}

TEST(InterleaveThreads, AConsumerThatWaitsCanBeInterrupted) {
  for (const bool deterministic : {true, false}) {
    AwaitedCount released;
    const DatasetPtr stuck = watched(numbers(2), {.reads = [&] { released.await(1); }});
    const std::unique_ptr<Cursor> cursor =
        interleave({stuck, stuck}, {.cycle_length = 2, .parallel = 2, .deterministic = deterministic})->open();
    Element element;
    request_interrupt();
    EXPECT_THROW(cursor->next(element), Interrupted);
    clear_interrupt();
    released.add();
    EXPECT_EQ(read(*cursor).size(), 4U);
  }
}

TEST(InterleaveThreads, AreInTheFigures) {
  const std::unique_ptr<Cursor> cursor = interleave(parts({3, 1, 4, 2}), {.cycle_length = 3, .parallel = 2})->open();
  read(*cursor);
  const std::vector<StageStatistics> rows = cursor->statistics();
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[1].stage, "skip");
  EXPECT_EQ(rows[1].produced, 10);
  EXPECT_EQ(rows[2].stage, "interleave");
  EXPECT_EQ(rows[2].produced, 10);
  EXPECT_EQ(rows[2].bytes, 10 * 16);
  EXPECT_EQ(rows[2].workers, 2);
  EXPECT_EQ(rows[2].buffered, 0);
}

TEST(InterleaveThreads, AreNoMoreThanInputs) {
  const std::unique_ptr<Cursor> cursor = interleave({numbers(2), numbers(3)}, {.parallel = 100})->open();
  EXPECT_EQ(read(*cursor).size(), 5U);
  EXPECT_EQ(cursor->statistics().back().workers, 2);
}

TEST(InterleaveThreads, FiguresCanBeReadWhileTheyRun) {
  const std::vector<DatasetPtr> inputs(30, numbers(40));
  const std::unique_ptr<Cursor> cursor = interleave(inputs, {.cycle_length = 3, .parallel = 2})->open();
  std::atomic<bool> done = false;
  std::thread asking([&] {
    while (!done) {
      const std::vector<StageStatistics> rows = cursor->statistics();
      EXPECT_LE(rows.back().buffered, rows.back().capacity);
    }
  });
  EXPECT_EQ(read(*cursor).size(), 1200U);
  done = true;
  asking.join();
}

}  // namespace
}  // namespace gpubench
