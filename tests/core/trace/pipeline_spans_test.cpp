#include "core/trace/pipeline_spans.h"

#include <gmock/gmock.h>
#include <thread>

#include "core/trace/breakdown.h"

namespace gpubench {
namespace {

void work_in_a_thread(const char* lane, int spans = 1) {
  std::thread([=] {
    name_pipeline_thread(lane);
    for (int i = 0; i < spans; ++i) const PipelineSpan span("map");
  }).join();
}

TEST(PipelineSpansTest, EachThreadHasALane) {
  Timeline timeline(100);
  {
    const PipelineSpans traced(timeline);
    work_in_a_thread("map worker 1");
    work_in_a_thread("map worker 2");
  }
  ASSERT_EQ(timeline.spans().size(), 2U);
  EXPECT_EQ(timeline.text(timeline.spans()[0].lane), "map worker 1");
  EXPECT_EQ(timeline.text(timeline.spans()[1].lane), "map worker 2");
  EXPECT_EQ(timeline.text(timeline.spans()[1].name), "map");
  EXPECT_LE(timeline.spans()[1].begin, timeline.spans()[1].end);
}

TEST(PipelineSpansTest, OnlyAddsWhileItIsTraced) {
  Timeline timeline(100), other(100);
  work_in_a_thread("before");
  { const PipelineSpans traced(timeline); }
  work_in_a_thread("after");
  const PipelineSpans first(timeline);
  {
    const PipelineSpans latest(other);
    work_in_a_thread("worker");
  }
  EXPECT_EQ(timeline.size(), 0U);
  EXPECT_EQ(other.size(), 1U);
}

TEST(PipelineSpansTest, LeaveRoomForTheSteps) {
  Timeline timeline(40);
  const PipelineSpans traced(timeline);
  work_in_a_thread("worker", 25);
  EXPECT_EQ(timeline.size(), 10U);
  EXPECT_EQ(timeline.left_out(), 15U);
  EXPECT_EQ(timeline.dropped(), 0U);
}

TEST(PipelineSpansTest, BelongToNoDeviceAndNoReplica) {
  Span span;
  span.replica = Span::of_pipeline;
  EXPECT_FALSE(TracedDevice{}.has(span));
  EXPECT_FALSE((TracedDevice{.gpu = 0, .replica = 0}).has(span));
  EXPECT_FALSE((TracedDevice{.gpu = TracedDevice::all, .replica = 1}).has(span));
}

}  // namespace
}  // namespace gpubench
