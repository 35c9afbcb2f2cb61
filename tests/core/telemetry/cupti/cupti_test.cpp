#include "core/telemetry/cupti/cupti.h"

#include <gmock/gmock.h>

#include "core/trace/exchange_trace.h"
#include "tests/core/telemetry/cupti/fake_cupti.h"
#include "tests/support/expect_error.h"

namespace gpubench {
namespace {

using support::FakeCupti;
using ::testing::ElementsAre;
using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class CuptiTest : public ::testing::Test {
 protected:
  static std::unique_ptr<ActivityTracer> tracer(std::size_t buffers = 16, std::size_t bytes = 4096) {
    return std::make_unique<ActivityTracer>(std::make_unique<Cupti>(FakeCupti::functions(), buffers, bytes));
  }
  void run_kernels(int count) {
    for (int i = 0; i < count; ++i) fake_.record(FakeCupti::kernel("gemm", fake_.now_ns + i, fake_.now_ns + i + 1, 1));
  }

  FakeCupti fake_;
  Timeline timeline_{1000};
};

TEST_F(CuptiTest, WhatRunsBetweenStartAndStopIsInTheTimeline) {
  const auto tracer = this->tracer();
  run_kernels(3);
  const Clock::time_point before = Clock::now();
  tracer->start();
  fake_.now_ns += 10;
  run_kernels(100);
  fake_.now_ns += 1000;
  EXPECT_EQ(tracer->stop(timeline_), 0U);
  EXPECT_EQ(timeline_.spans().size(), 100U);
  EXPECT_GE(timeline_.spans()[0].begin, before);
  EXPECT_LE(timeline_.spans()[99].end, Clock::now());
  EXPECT_THAT(fake_.enabled, IsEmpty());
  EXPECT_EQ(fake_.buffers_held, 0);
}

TEST_F(CuptiTest, ExchangesOfEachGpuAreToldFromItsOtherKernels) {
  const auto tracer = this->tracer();
  const auto run_on = [&](int gpu, const char* kernel, int begin, int end) {
    auto record = FakeCupti::kernel(kernel, fake_.now_ns + begin, fake_.now_ns + end, 1);
    record.deviceId = gpu;
    fake_.record(record);
  };
  constexpr const char* all_reduce = "_Z39ncclDevKernel_AllReduce_Sum_f32_RING_LL24ncclDevKernelArgsStorageILm4096EE";
  const Clock::time_point before = Clock::now();
  tracer->start();
  run_on(0, "gemm", 100, 110);
  run_on(0, all_reduce, 100, 150);
  run_on(1, all_reduce, 130, 150);
  EXPECT_EQ(tracer->stop(timeline_), 0U);
  const Window window{before, before + 1h};
  const ExchangeTrace first = trace_exchanges(timeline_.spans(), 0, window);
  ASSERT_EQ(first.size(), 1U);
  EXPECT_EQ(first[0].length, 50ns);
  EXPECT_THAT(first[0].bare, ElementsAre(TracedExchange::Stretch{10ns, 50ns}));
  const ExchangeTrace second = trace_exchanges(timeline_.spans(), 1, window);
  ASSERT_EQ(second.size(), 1U);
  EXPECT_EQ(second[0].length, 20ns);
}

TEST_F(CuptiTest, TracesAgain) {
  const auto tracer = this->tracer();
  for (int round = 1; round <= 3; ++round) {
    tracer->start();
    run_kernels(40);
    EXPECT_EQ(tracer->stop(timeline_), 0U);
    EXPECT_EQ(timeline_.spans().size(), 40U * round);
  }
}

TEST_F(CuptiTest, CountsRecordsThatFoundNoRoomAndThoseWithoutTimes) {
  const auto tracer = this->tracer(1, 1024);
  tracer->start();
  fake_.record(FakeCupti::kernel("untimed", 0, 0, 1));
  run_kernels(100);
  const std::size_t lost = tracer->stop(timeline_);
  EXPECT_GT(timeline_.spans().size(), 0U);
  EXPECT_EQ(timeline_.spans().size() + lost, 101U);
}

TEST_F(CuptiTest, RecordsLostBeforeAreNotCounted) {
  const auto tracer = this->tracer();
  fake_.dropped = 17;
  tracer->start();
  EXPECT_EQ(tracer->stop(timeline_), 0U);
}

TEST_F(CuptiTest, TheDriversReasonIsTheError) {
  fake_.refused = CUPTI_ACTIVITY_KIND_MEMSET;
  const auto tracer = this->tracer();
  EXPECT_ERROR_OF(DeviceError, HasSubstr("cuptiActivityEnable"), tracer->start());
  EXPECT_THAT(fake_.enabled, IsEmpty());
  fake_.refused = CUPTI_ACTIVITY_KIND_INVALID;
  tracer->start();
  run_kernels(1);
  EXPECT_EQ(tracer->stop(timeline_), 0U);
  EXPECT_EQ(timeline_.spans().size(), 1U);
}

TEST_F(CuptiTest, OnlyOneTraceRuns) {
  const auto first = tracer(), second = tracer();
  first->start();
  EXPECT_ERROR("tracing: another trace of this process is running; only one can", second->start());
  run_kernels(2);
  EXPECT_EQ(first->stop(timeline_), 0U);
  EXPECT_EQ(timeline_.spans().size(), 2U);
  second->start();
  EXPECT_EQ(second->stop(timeline_), 0U);
}

TEST_F(CuptiTest, NothingStaysAttachedAfterATrace) {
  const auto tracer = this->tracer();
  for (int round = 0; round < 2; ++round) {
    tracer->start();
    EXPECT_TRUE(fake_.attached);
    run_kernels(5);
    EXPECT_EQ(tracer->stop(timeline_), 0U);
    EXPECT_FALSE(fake_.attached);
  }
  EXPECT_EQ(timeline_.spans().size(), 10U);
}

TEST_F(CuptiTest, NothingStaysAttachedAfterAnError) {
  fake_.refused = CUPTI_ACTIVITY_KIND_MEMSET;
  const auto tracer = this->tracer();
  EXPECT_THROW(tracer->start(), DeviceError);
  EXPECT_FALSE(fake_.attached);
}

TEST_F(CuptiTest, AGpuThatIsLostWhileTracingIsAnErrorAndNoGap) {
  {
    const auto tracer = this->tracer();
    tracer->start();
    run_kernels(5);
    fake_.lost = true;
    EXPECT_ERROR_OF(DeviceError, HasSubstr("CUPTI: cuptiActivityFlushAll failed: CUPTI_ERROR_NOT_INITIALIZED"),
                    tracer->stop(timeline_));
    EXPECT_THAT(timeline_.spans(), IsEmpty());
  }
  EXPECT_FALSE(fake_.attached);
  EXPECT_EQ(fake_.buffers_held, 0);
  fake_.lost = false;
  const auto next = tracer();
  next->start();
  run_kernels(2);
  EXPECT_EQ(next->stop(timeline_), 0U);
  EXPECT_EQ(timeline_.spans().size(), 2U);
}

TEST_F(CuptiTest, DestroyedWhileTracing) {
  {
    const auto tracer = this->tracer();
    tracer->start();
    run_kernels(50);
  }
  EXPECT_THAT(fake_.enabled, IsEmpty());
  EXPECT_EQ(fake_.buffers_held, 0);
  EXPECT_FALSE(fake_.attached);
}

}  // namespace
}  // namespace gpubench
