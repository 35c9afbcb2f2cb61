#include "core/experiment/steps/step_trace.h"

#include <gmock/gmock.h>

#include "core/base/error.h"
#include "core/device/device.h"
#include "tests/core/experiment/declared.h"

namespace gpubench {
namespace {

class CountedSteps final : public StepSource {
 public:
  void step() override {
    ++taken;
    fetched_ = Clock::now();
    returned.push_back(fetched_);
  }
  std::int64_t examples() const override { return 1; }
  Clock::time_point fetched() const override { return fetched_; }
  int steps_in_flight() const override { return in_flight; }
  int taken = 0, in_flight = 0;
  std::vector<Clock::time_point> returned;

 private:
  Clock::time_point fetched_{};
};

// Sees one kernel, which runs as long as the trace.
class FakeTracer final : public Tracer {
 public:
  void start() override { begin_ = Clock::now(); }
  std::size_t stop(Timeline& timeline) override {
    Span kernel;
    kernel.span_class = SpanClass::compute;
    kernel.name = kernel.lane = timeline.name(name);
    kernel.is_exact = is_exact;
    kernel.begin = begin_;
    kernel.end = Clock::now();
    timeline.add(kernel);
    return lost;
  }
  const char* name = "kernel";
  bool is_exact = true;
  std::size_t lost = 0;

 private:
  Clock::time_point begin_;
};

class StepTraceTest : public ::testing::Test {
 protected:
  StepTrace trace(const TraceLimits& limits = {}) {
    tracer_.start();
    return trace_steps(steps_, runtime_, nullptr, tracer_, timeline_, limits);
  }

  Devices devices_{DeviceConfig{}};
  Runtime runtime_{devices_};
  CountedSteps steps_;
  FakeTracer tracer_;
  Timeline timeline_{1000};
};

TEST_F(StepTraceTest, FillsSharesThatSumToOne) {
  const StepTrace trace = this->trace();
  Record record;
  set_breakdown(record, trace.breakdown, trace.steps);
  EXPECT_EQ(number(record, "compute_share"), 1);
  EXPECT_EQ(number(record, "device_busy"), 1);
  EXPECT_GT(number(record, "traced_step_time_s"), 0);
  expect_declared(record, "training");
  EXPECT_NEAR(sum_of_shares(record), 1, 1e-12);
  EXPECT_EQ(trace.breakdown.doubt, "");
}

TEST_F(StepTraceTest, TheHostsTimeIsExplainedWithoutTheDevice) {
  class Blind final : public Tracer {
   public:
    void start() override {}
    std::size_t stop(Timeline&) override { return 0; }
  } blind;
  const StepTrace trace = trace_steps(steps_, runtime_, nullptr, blind, timeline_);
  Record record;
  set_breakdown(record, trace.breakdown, trace.steps);
  EXPECT_EQ(number(record, "compute_share"), 0);
  EXPECT_EQ(number(record, "other_share"), 0);
  EXPECT_NEAR(number(record, "input_wait_share") + number(record, "host_share"), 1, 1e-12);
}

TEST_F(StepTraceTest, TakesAFewSteps) {
  EXPECT_EQ(trace({.least_steps = 3, .most_steps = 50, .time = Seconds(0)}).steps, 3);
  EXPECT_EQ(steps_.taken, 3 + 1);  // one more, untimed, in which executors name their nodes
  EXPECT_EQ(trace({.least_steps = 3, .most_steps = 7, .time = Seconds(3600)}).steps, 7);
  EXPECT_EQ(steps_.taken, 4 + 7 + 1);
}

TEST_F(StepTraceTest, CountsStepsOnlyWhileTheDeviceIsAsBusyAsBetweenThem) {
  Device& device = devices_.device(parse_device_id("emulated:t4:0"));
  const Buffer used = device.memory().allocate(1, "test");
  steps_.in_flight = 2;
  const StepTrace trace = this->trace({.least_steps = 3, .most_steps = 3, .time = Seconds(0)});
  EXPECT_EQ(trace.steps, 3);
  ASSERT_EQ(steps_.returned.size(), 3 + 3 + 3U) << "to record, to fill the device, to count";
  EXPECT_GE(trace.breakdown.window.begin, steps_.returned[5]);
  EXPECT_LT(trace.breakdown.window.begin, steps_.returned[6]);
}

TEST_F(StepTraceTest, EndsBeforeTheTimelineIsFull) {
  const StepTrace trace = this->trace({.least_steps = 3, .most_steps = 1 << 30, .time = Seconds(3600)});
  EXPECT_GT(trace.steps, 100);
  EXPECT_EQ(timeline_.dropped(), 0U);
  EXPECT_EQ(trace.breakdown.doubt, "");
}

TEST_F(StepTraceTest, KnowsWhatAddingItsSpansCost) {
  const StepTrace trace = this->trace();
  EXPECT_GT(trace.observer_share, 0);
}

TEST_F(StepTraceTest, KnowsTheShareOfOurOwnAttention) {
  EXPECT_EQ(trace().own_attention_share, 0);
  // As CUPTI names it.
  tracer_.name =
      "void gpubench::cuda::(anonymous namespace)::attention_kernel<__half, 64>(gpubench::cuda::AttentionShape)";
  EXPECT_NEAR(trace().own_attention_share, 1, 1e-12);
  tracer_.name = "cudnn_generated_fort_native_sdpa_sm90_flash_fprop_attention_kernel";
  timeline_.clear();
  EXPECT_EQ(trace().own_attention_share, 0) << "the library's";
}

TEST_F(StepTraceTest, ProfilesOnlyIfAsked) {
  EXPECT_FALSE(trace().profile.has_value());
  const StepTrace profiled = trace({.least_steps = 3, .most_steps = 3, .profiles = true});
  ASSERT_TRUE(profiled.profile.has_value());
  EXPECT_EQ(profiled.profile->steps, 3);
}

TEST_F(StepTraceTest, WhatWasLostOrIsNotExactIsInDoubt) {
  tracer_.lost = 2;
  EXPECT_EQ(trace().breakdown.doubt, "2 spans of the trace were lost");
  tracer_.lost = 0;
  Timeline small(4);
  tracer_.start();
  EXPECT_THAT(trace_steps(steps_, runtime_, nullptr, tracer_, small).breakdown.doubt,
              ::testing::EndsWith(" were lost"));
  tracer_.is_exact = false;
  timeline_.clear();
  EXPECT_EQ(trace().breakdown.doubt, "the trace has a graph's launch without its nodes' times");
}

}  // namespace
}  // namespace gpubench
