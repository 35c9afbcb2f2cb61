#include "core/trace/timeline.h"

#include <gmock/gmock.h>
#include <set>
#include <thread>

#include "tests/core/trace/spans.h"
#include "tests/support/allocations.h"

namespace gpubench {
namespace {

using support::span;

TEST(Timeline, KeepsSpansAndNames) {
  Timeline timeline(4);
  const NameId name = timeline.name("gemm"), other = timeline.name("relu");
  EXPECT_EQ(timeline.name(std::string("gemm")), name);
  EXPECT_NE(name, other);
  EXPECT_EQ(timeline.text(other), "relu");
  Span kernel = span(SpanClass::compute, 1, 2);
  kernel.name = other;
  timeline.add(kernel);
  ASSERT_EQ(timeline.spans().size(), 1U);
  EXPECT_EQ(timeline.spans()[0].name, other);
  timeline.clear();
  EXPECT_TRUE(timeline.spans().empty());
  EXPECT_EQ(timeline.text(name), "gemm");
}

TEST(Timeline, NamesStayWhileMoreAreAdded) {
  Timeline timeline(0);
  const std::string_view first = timeline.text(timeline.name("a"));
  for (int i = 0; i < 1000; ++i) timeline.name(std::to_string(i));
  EXPECT_EQ(first, "a");
  EXPECT_EQ(timeline.text(timeline.name("999")), "999");
}

TEST(Timeline, CountsWhatFindsNoRoomAndAllocatesNothing) {
  Timeline timeline(2);
  EXPECT_EQ(support::count_allocations([&] {
              for (int i = 0; i < 5; ++i) timeline.add(span(SpanClass::copy, i, i + 1));
            }),
            0);
  EXPECT_EQ(timeline.spans().size(), 2U);
  EXPECT_EQ(timeline.dropped(), 3U);
  timeline.clear();
  EXPECT_EQ(timeline.dropped(), 0U);
}

TEST(Timeline, ThreadsAddTogether) {
  constexpr int threads = 4, each = 1000;
  Timeline timeline(threads * each);
  {
    std::vector<std::jthread> workers;
    for (int t = 0; t < threads; ++t) {
      workers.emplace_back([&timeline, t] {
        const NameId lane = timeline.name("thread " + std::to_string(t % 2));
        for (int i = 0; i < each; ++i) {
          Span one = span(SpanClass::launch, t * each + i, t * each + i + 1);
          one.lane = lane;
          timeline.add(one);
        }
      });
    }
  }
  std::set<Clock::time_point> begins;
  for (const Span& one : timeline.spans()) begins.insert(one.begin);
  EXPECT_EQ(begins.size(), static_cast<std::size_t>(threads * each));
}

TEST(Timeline, ClassesHaveNames) {
  EXPECT_EQ(to_string(SpanClass::compute), "compute");
  EXPECT_EQ(to_string(SpanClass::host_sync), "host_sync");
  EXPECT_EQ(to_string(SpanClass::other), "other");
}

}  // namespace
}  // namespace gpubench
