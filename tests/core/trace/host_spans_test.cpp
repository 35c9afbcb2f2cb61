#include "core/trace/host_spans.h"

#include <gtest/gtest.h>

#include "tests/core/trace/spans.h"
#include "tests/support/allocations.h"

namespace gpubench {
namespace {

using support::at;

TEST(HostSpans, HaveNodeThreadAndReplica) {
  Timeline timeline(4);
  HostSpans spans(timeline, "replica 2", 2);
  const NodeId node = spans.node("conv2d", "conv2d_1", "gradient");
  EXPECT_EQ(spans.node("conv2d", "conv2d_1", "gradient"), node);
  EXPECT_NE(spans.node("conv2d", "conv2d_1", "forward"), node);
  spans.add(SpanClass::compute, node, at(1), at(5));
  spans.add(SpanClass::input_wait, at(5), at(6));
  const Span &kernel = timeline.spans()[0], &wait = timeline.spans()[1];
  EXPECT_EQ(timeline.text(kernel.name), "conv2d");
  EXPECT_EQ(timeline.text(kernel.lane), "replica 2");
  EXPECT_EQ(kernel.replica, 2);
  EXPECT_EQ(kernel.gpu, -1);
  EXPECT_EQ(timeline.node(kernel.node).layer, "conv2d_1");
  EXPECT_EQ(timeline.node(kernel.node).role, "gradient");
  EXPECT_EQ(timeline.text(wait.name), "input_wait");
  EXPECT_EQ(wait.node, NodeId::none);
}

TEST(HostSpans, OfSeveralThreadsShareTheNodesOfATimeline) {
  Timeline timeline(4);
  HostSpans first(timeline, "replica 0", 0), second(timeline, "replica 1", 1);
  const NodeId other = first.node("relu", "", "forward"), node = first.node("add", "dense", "forward");
  EXPECT_EQ(second.node("add", "dense", "forward"), node);
  second.add(SpanClass::compute, node, at(0), at(1));
  EXPECT_EQ(timeline.text(timeline.spans()[0].name), "add");
  EXPECT_NE(other, node);
}

TEST(HostSpans, AddingAllocatesNothing) {
  Timeline timeline(4);
  HostSpans spans(timeline);
  const NodeId node = spans.node("matmul", "dense", "forward");
  EXPECT_EQ(support::count_allocations([&] {
              spans.add(SpanClass::compute, node, at(0), at(1));
              spans.add(SpanClass::launch, at(0), at(1));
              spans.node("matmul", "dense", "forward");
            }),
            0);
}

TEST(SpanScope, IsASpanOnlyWhereThereAreSpans) {
  Timeline timeline(4);
  HostSpans spans(timeline);
  {
    const SpanScope nothing(nullptr, SpanClass::copy);
    const SpanScope copy(&spans, SpanClass::copy);
    const SpanScope named(&spans, SpanClass::host_compute, "callback");
  }
  ASSERT_EQ(timeline.spans().size(), 2U);
  EXPECT_EQ(timeline.text(timeline.spans()[0].name), "callback");
  EXPECT_LE(timeline.spans()[1].begin, timeline.spans()[0].begin);
  EXPECT_GE(timeline.spans()[1].end, timeline.spans()[0].end);
}

TEST(CostOfSpan, IsPositive) {
  EXPECT_GT(cost_of_span().count(), 0);
}

}  // namespace
}  // namespace gpubench
