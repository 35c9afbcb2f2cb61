#include "core/data/stage/throttle.h"

#include <gtest/gtest.h>

#include "core/data/stage/batch.h"
#include "core/data/stage/combine.h"
#include "core/data/stage/prefetch.h"
#include "tests/core/data/reading.h"
#include "tests/core/data/stuck_ticker.h"
#include "tests/support/expect_error.h"

namespace gpubench {
namespace {

using std::chrono::milliseconds;

/// Waiting makes the time come; each waking may be late.
class FakeTicker final : public Ticker {
 public:
  explicit FakeTicker(Clock::duration late = {}) : late_(late) {}
  Clock::time_point now() const override { return now_; }
  bool wait_until(Clock::time_point time, const std::stop_token&) override {
    now_ = time + late_;
    return true;
  }
  void pass(Clock::duration time) { now_ += time; }
  Seconds passed() const { return now_ - Clock::time_point(); }

 private:
  Clock::time_point now_{};
  Clock::duration late_;
};

TEST(Throttle, EveryElementTakesItsLatencyAndItsBytes) {
  const auto ticker = std::make_shared<FakeTicker>();
  // 16 bytes each: 8 + 2 * 4
  const DatasetPtr slow = throttle(numbers(5), {.latency = milliseconds(3), .bytes_per_s = 16e3}, ticker);
  EXPECT_EQ(read(slow), counting(0, 5));
  EXPECT_NEAR(ticker->passed().count(), 5 * 0.004, 1e-9);
  EXPECT_EQ(describe(*slow), "from_tensor_slices > throttle(latency=0.003s bandwidth=16000B/s)");
}

TEST(Throttle, LongWaitsLookForInterruptsBetween) {
  const auto ticker = std::make_shared<FakeTicker>();
  EXPECT_EQ(read(throttle(numbers(2), {.latency = milliseconds(220)}, ticker)), counting(0, 2));
  EXPECT_NEAR(ticker->passed().count(), 0.44, 1e-9);
}

TEST(Throttle, LateWakingsAreMadeGood) {
  const auto ticker = std::make_shared<FakeTicker>(milliseconds(4));
  EXPECT_EQ(read(throttle(numbers(11), {.latency = milliseconds(1)}, ticker)).size(), 11U);
  EXPECT_NEAR(ticker->passed().count(), 0.011, 0.0041);
}

TEST(Throttle, AConsumerThatComesLateWaitsInFull) {
  const auto ticker = std::make_shared<FakeTicker>();
  const std::unique_ptr<Cursor> cursor = throttle(numbers(3), {.latency = milliseconds(5)}, ticker)->open();
  Element element;
  ASSERT_TRUE(cursor->next(element));
  ticker->pass(milliseconds(100));
  ASSERT_TRUE(cursor->next(element));
  EXPECT_NEAR(ticker->passed().count(), 0.110, 1e-9);
  EXPECT_EQ(cursor->skip(1), 1);
  EXPECT_NEAR(ticker->passed().count(), 0.110, 1e-9);
  EXPECT_NEAR(cursor->statistics().back().busy.count(), 0.010, 1e-9);
}

TEST(Throttle, CursorsWaitForThemselves) {
  const auto ticker = std::make_shared<FakeTicker>();
  const DatasetPtr slow = throttle(numbers(2), {.latency = milliseconds(5)}, ticker);
  const std::unique_ptr<Cursor> a = slow->open(), b = slow->open();
  Element element;
  ASSERT_TRUE(a->next(element) && b->next(element));
  EXPECT_NEAR(a->statistics().back().busy.count(), 0.005, 1e-9);
  EXPECT_NEAR(b->statistics().back().busy.count(), 0.005, 1e-9);
}

TEST(Throttle, DestroyingTheConsumerEndsTheWait) {
  const auto ticker = std::make_shared<StuckTicker>();
  const DatasetPtr slow = throttle(numbers(3), {.latency = std::chrono::hours(2)}, ticker);
  std::unique_ptr<Cursor> cursor = batch(prefetch(concatenate(numbers(4), prefetch(slow, 1)), 1), 2)->open();
  Element element;
  cursor->next(element);  // starts the threads
  cursor->next(element);
  ticker->waiting.wait(false);
  cursor.reset();  // comes back
  EXPECT_TRUE(ticker->waiting);
}

TEST(Throttle, RefusesFiguresBelowZero) {
  EXPECT_ERROR("throttle: a latency of -1 s; 0 s and more are possible",
               throttle(numbers(1), {.latency = Seconds(-1)}));
  EXPECT_ERROR("throttle: a bandwidth of -2 bytes/s; it must be above 0, or be left out for as fast as elements come",
               throttle(numbers(1), {.bytes_per_s = -2}));
}

}  // namespace
}  // namespace gpubench
