#include "core/telemetry/sampler.h"

#include <array>
#include <condition_variable>
#include <gmock/gmock.h>
#include <mutex>

#include "core/base/error.h"
#include "tests/support/expect_error.h"

namespace gpubench {
namespace {

using ::testing::ElementsAre;
using ::testing::IsNan;
using namespace std::chrono_literals;

// Time that passes when the test says so, or while a probe reads.
class FakeTicker final : public Ticker {
 public:
  Clock::time_point now() const override {
    const std::lock_guard lock(mutex_);
    return now_;
  }
  Seconds thread_time() const override { return now().time_since_epoch(); }
  void advance(Clock::duration time) {
    const std::lock_guard lock(mutex_);
    now_ += time;
  }
  bool wait_until(Clock::time_point time, const std::stop_token& stop) override {
    std::unique_lock lock(mutex_);
    waits_.push_back(time);
    changed_.notify_all();
    if (!changed_.wait(lock, stop, [&] { return ticks_ > 0; })) return false;
    --ticks_;
    now_ = std::max(now_, time);
    return true;
  }
  /// Lets one reading happen.
  void release() {
    const std::lock_guard lock(mutex_);
    ++ticks_;
    ++served_;
    changed_.notify_all();
  }
  /// Lets one reading happen and returns when the thread waits for the next.
  void tick() {
    release();
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return waits_.size() > served_; });
  }
  std::vector<Clock::duration> waits() const {
    const std::lock_guard lock(mutex_);
    std::vector<Clock::duration> times;
    for (const Clock::time_point time : waits_) times.push_back(time.time_since_epoch());
    return times;
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  Clock::time_point now_{};
  std::vector<Clock::time_point> waits_;
  std::size_t ticks_ = 0, served_ = 0;
};

// Counts its readings.
class CountingProbe final : public Probe {
 public:
  explicit CountingProbe(FakeTicker& ticker, Clock::duration cost = {}) : ticker_(ticker), cost_(cost) {}
  std::string_view name() const override { return "counting"; }
  std::span<const std::string_view> columns() const override {
    static constexpr std::array<std::string_view, 1> names = {"readings"};
    return names;
  }
  void read(std::span<double> values) override {
    if (count_ == fail_at) throw Error("the probe fell out");
    values[0] = count_++;
    ticker_.advance(cost_);
  }
  int fail_at = -1;

 private:
  FakeTicker& ticker_;
  Clock::duration cost_;
  int count_ = 0;
};

class SamplerTest : public ::testing::Test {
 protected:
  std::vector<std::unique_ptr<Probe>> probe(Clock::duration cost = {}, int fail_at = -1) {
    auto counting = std::make_unique<CountingProbe>(*ticker_, cost);
    counting->fail_at = fail_at;
    std::vector<std::unique_ptr<Probe>> probes;
    probes.push_back(std::move(counting));
    return probes;
  }
  std::shared_ptr<FakeTicker> ticker_ = std::make_shared<FakeTicker>();
};

TEST_F(SamplerTest, ReadsAtTheBeginningEveryIntervalAndAtTheEnd) {
  Sampler sampler(probe(), {.interval = 100ms}, ticker_);
  sampler.begin();
  ticker_->tick();
  ticker_->tick();
  ticker_->advance(50ms);
  sampler.end();
  const Readings& readings = sampler.readings()[0];
  EXPECT_EQ(readings.size(), 4U);
  EXPECT_DOUBLE_EQ(readings.duration().count(), 0.25);
  EXPECT_EQ(readings.highest("readings"), 3);
  EXPECT_THAT(ticker_->waits(), ElementsAre(100ms, 200ms, 300ms));
}

TEST_F(SamplerTest, BeginsAnew) {
  Sampler sampler(probe(), {.interval = 100ms}, ticker_);
  sampler.begin();
  ticker_->advance(1s);
  sampler.end();
  sampler.begin();
  ticker_->advance(2s);
  sampler.end();
  EXPECT_EQ(sampler.readings()[0].size(), 2U);
  EXPECT_EQ(sampler.readings()[0].lowest("readings"), 2);
  EXPECT_DOUBLE_EQ(sampler.readings()[0].duration().count(), 2);
}

TEST_F(SamplerTest, KnowsItsOwnCost) {
  Sampler sampler(probe(10ms), {.interval = 100ms}, ticker_);
  sampler.begin();
  for (int i = 0; i < 5; ++i) ticker_->tick();
  sampler.end();
  // What the first and the last reading take is not beside the work.
  EXPECT_NEAR(sampler.cost_share() * sampler.readings()[0].duration().count(), 0.05, 1e-9);
}

TEST_F(SamplerTest, SlowReadingsAreNotCaughtUpWith) {
  Sampler sampler(probe(250ms), {.interval = 100ms}, ticker_);
  sampler.begin();
  ticker_->tick();
  ticker_->tick();
  sampler.end();
  EXPECT_THAT(ticker_->waits(), ElementsAre(350ms, 600ms, 850ms));
}

TEST_F(SamplerTest, ReadingsThatNeedALargePartOfACoreAreFurtherApart) {
  Sampler sampler(probe(15625us), {.interval = 100ms, .most_of_core = 1.0 / 32}, ticker_);
  sampler.begin();  // until 15.625 ms
  ticker_->tick();
  ticker_->tick();
  sampler.end();
  EXPECT_THAT(ticker_->waits(), ElementsAre(115625us, 615625us, 1115625us));
}

TEST_F(SamplerTest, KeepsRoomForTheLastReading) {
  Sampler sampler(probe(), {.interval = 100ms, .capacity = 3}, ticker_);
  sampler.begin();
  ticker_->advance(5s);
  sampler.end();
  EXPECT_LE(sampler.readings()[0].size(), 3U);
  EXPECT_DOUBLE_EQ(sampler.readings()[0].duration().count(), 5);
}

TEST_F(SamplerTest, DestroyedWhileRunning) {
  Sampler sampler(probe(), {.interval = 100ms}, ticker_);
  sampler.begin();
  ticker_->tick();
}

TEST_F(SamplerTest, StopsWithoutWaitingForTheNextReading) {
  Sampler sampler(probe(), {.interval = 24h});
  sampler.begin();
  sampler.end();
  EXPECT_EQ(sampler.readings()[0].size(), 2U);
  sampler.begin();  // and destroyed
}

TEST_F(SamplerTest, WhatAProbeThrowsIsThrownAtTheEnd) {
  Sampler sampler(probe({}, 1), {.interval = 100ms}, ticker_);
  sampler.begin();
  ticker_->release();
  EXPECT_ERROR("the probe fell out", sampler.end());
}

TEST_F(SamplerTest, WithoutProbesThereIsNothingToDo) {
  Sampler sampler({});
  sampler.begin();
  sampler.end();
  EXPECT_TRUE(sampler.readings().empty());
  EXPECT_THAT(sampler.cost_share(), IsNan());
}

}  // namespace
}  // namespace gpubench
