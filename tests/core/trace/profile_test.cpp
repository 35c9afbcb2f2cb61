#include "core/trace/profile.h"

#include <cmath>
#include <gmock/gmock.h>
#include <numeric>
#include <random>

#include "tests/core/trace/spans.h"

namespace gpubench {
namespace {

using support::at;
using support::span;
using ::testing::DoubleNear;
using ::testing::IsEmpty;

class ProfileTest : public ::testing::Test {
 protected:
  NodeId node(const char* op, const char* layer, const char* role = "forward") {
    return timeline_.node({.op = op, .layer = layer, .role = role});
  }
  void add(Span one, const char* name, NodeId of = NodeId::none) {
    one.name = timeline_.name(name);
    one.node = of;
    timeline_.add(one);
  }
  StepProfile profile(std::vector<Clock::time_point> ends = {at(100)}, std::vector<TracedDevice> devices = {{}},
                      std::size_t dropped = 0) {
    return profile_steps(timeline_, {at(0), std::move(ends), std::move(devices), dropped});
  }
  static double time_of(const StepProfile& profile, const std::string& layer, const std::string& op) {
    double nanoseconds = 0;
    for (const ProfileEntry& entry : profile.entries)
      if (entry.node.layer == layer && entry.node.op == op) nanoseconds += entry.time.count() * 1e9;
    return std::round(nanoseconds * 1e3) / 1e3;
  }
  static double time_of(const StepProfile& profile, SpanClass span_class) {
    double nanoseconds = 0;
    for (const ProfileEntry& entry : profile.entries)
      if (entry.span_class == span_class) nanoseconds += entry.time.count() * 1e9;
    return std::round(nanoseconds * 1e3) / 1e3;
  }

  Timeline timeline_{2000};
};

TEST_F(ProfileTest, KernelsAreChargedToTheirNodesAndTheRestToItsClass) {
  const NodeId matmul = node("matmul", "dense"), relu = node("relu", "dense"),
               slope = node("matmul", "dense", "gradient");
  add(span(SpanClass::input_wait, 0, 10), "input_wait");
  add(span(SpanClass::host_compute, 10, 100), "host_compute");
  add(span(SpanClass::launch, 12, 90), "launch");
  add(span(SpanClass::compute, 20, 50), "matmul", matmul);
  add(span(SpanClass::compute, 50, 60), "relu", relu);
  add(span(SpanClass::compute, 60, 85), "matmul", slope);
  const StepProfile found = profile();
  EXPECT_EQ(time_of(found, "dense", "matmul"), 55);
  StepProfile with_work = found;
  const std::vector<NodeWork> work{{{"matmul", "dense", "forward"}, 100, 40, "lt:11"},
                                   {{"matmul", "dense", "forward"}, 0, 0, "lt:11"},
                                   {{"matmul", "dense", "forward"}, 0, 0, "lt:1"},
                                   {{"matmul", "dense", "gradient"}, 200, 60},
                                   {{"relu", "dense", "forward"}, 0, 8},
                                   {{"softmax", "other", "forward"}, 7, 7}};
  add_work(with_work, work);
  EXPECT_EQ(with_work.entries.front().implementation, "lt:11, lt:1");
  for (const ProfileEntry& op : by_op(with_work)) {
    if (op.node.op == "matmul") {
      EXPECT_EQ(op.flops, 300);
      EXPECT_EQ(op.bytes, 100);
      EXPECT_EQ(op.implementation, "") << "of several nodes";
    } else if (op.node.op == "relu") {
      EXPECT_EQ(op.flops, 0);
    } else {
      EXPECT_FALSE(op.flops || op.bytes) << "no kernel of a planned node";
    }
  }
  EXPECT_EQ(time_of(found, "dense", "relu"), 10);
  EXPECT_EQ(time_of(found, SpanClass::input_wait), 10);
  EXPECT_EQ(time_of(found, SpanClass::launch), 8 + 5);
  EXPECT_EQ(time_of(found, SpanClass::host_compute), 2 + 10);
  EXPECT_EQ(found.entries.front().node.op, "matmul") << "the longest comes first";
  EXPECT_EQ(found.entries.front().node.role, "forward");
  EXPECT_EQ(found.breakdown.doubt, "");
  const std::vector<ProfileEntry> layers = by_layer(found), ops = by_op(found);
  EXPECT_EQ(layers.front().node.layer, "dense");
  EXPECT_THAT(layers.front().time.count(), DoubleNear(65e-9, 1e-15));
  EXPECT_EQ(layers.front().calls, 3);
  EXPECT_EQ(ops.front().node.op, "matmul");
  EXPECT_EQ(ops.front().calls, 2);
}

TEST_F(ProfileTest, TimesAndCallsAreOfAStep) {
  const NodeId matmul = node("matmul", "dense");
  for (int step = 0; step < 4; ++step) add(span(SpanClass::compute, 100 * step, 100 * step + 40), "matmul", matmul);
  add(span(SpanClass::host_compute, 0, 400), "host_compute");
  const StepProfile found = profile({at(100), at(200), at(300), at(400)});
  EXPECT_EQ(found.steps, 4);
  EXPECT_EQ(time_of(found, "dense", "matmul"), 40);
  EXPECT_EQ(found.entries[1].calls, 1);
  EXPECT_THAT(found.step().count(), DoubleNear(100e-9, 1e-15));
}

TEST_F(ProfileTest, SumsToTheStepWhateverOverlaps) {
  std::mt19937 random(7);
  std::uniform_int_distribution<int> class_of(0, span_class_count - 2), time(-20, 320), length(0, 60), layer(0, 3);
  const std::vector nodes{node("a", "one"), node("b", "one"), node("a", "two"), NodeId::none};
  for (int i = 0; i < 60; ++i) {
    const int begin = time(random);
    add(span(static_cast<SpanClass>(class_of(random)), begin, begin + length(random)), "work",
        nodes[static_cast<std::size_t>(layer(random))]);
  }
  const StepProfile found = profile({at(100), at(200), at(300)});
  const auto sum = [](const std::vector<ProfileEntry>& entries) {
    return std::accumulate(entries.begin(), entries.end(), 0.0,
                           [](double all, const ProfileEntry& entry) { return all + entry.time.count(); });
  };
  EXPECT_THAT(sum(found.entries), DoubleNear(100e-9, 1e-15));
  EXPECT_THAT(sum(by_layer(found)), DoubleNear(100e-9, 1e-15));
  EXPECT_THAT(sum(by_op(found)), DoubleNear(100e-9, 1e-15));
  for (std::size_t i = 0; i < span_class_count; ++i) {
    const auto span_class = static_cast<SpanClass>(i);
    EXPECT_THAT(time_of(found, span_class) / 100, DoubleNear(found.breakdown.share(span_class), 1e-5))
        << to_string(span_class);
  }
}

// A launch names its kernel by their correlation; the launch is known by the executor's span around it.
TEST_F(ProfileTest, WorkOfADeviceBelongsToTheNodeOfItsLaunch) {
  const NodeId first = node("matmul", "dense_1"), second = node("matmul", "dense_2");
  add(span(SpanClass::launch, 0, 10), "matmul", first);
  add(span(SpanClass::launch, 10, 20), "matmul", second);
  const auto with = [](Span one, unsigned correlation, int gpu) {
    one.correlation = correlation;
    one.gpu = gpu;
    return one;
  };
  add(with(span(SpanClass::launch, 3, 5), 1, -1), "cudaLaunchKernel");
  add(with(span(SpanClass::launch, 12, 14), 2, -1), "cudaLaunchKernel");
  add(with(span(SpanClass::launch, 30, 31), 3, -1), "cudaLaunchKernel");
  add(with(span(SpanClass::compute, 20, 50), 1, 0), "gemm");
  add(with(span(SpanClass::compute, 50, 90), 2, 0), "gemm");
  add(with(span(SpanClass::compute, 90, 95), 3, 0), "launched elsewhere");
  add(with(span(SpanClass::compute, 95, 100), 9, 0), "launched before");
  const StepProfile found = profile();
  EXPECT_EQ(time_of(found, "dense_1", "matmul"), 30);
  EXPECT_EQ(time_of(found, "dense_2", "matmul"), 40);
  EXPECT_THAT(time_of(found, "", ""), DoubleNear(10 + 20, 1e-9))
      << "kernels without a node, and launching before the first kernel";
}

TEST_F(ProfileTest, NamesWhatTheLaunchingThreadDidInTheLongestGaps) {
  const NodeId a = node("conv2d", "conv"), b = node("relu", "");
  add(span(SpanClass::host_compute, 0, 200), "host_compute");
  add(span(SpanClass::compute, 10, 40), "conv2d", a);
  add(span(SpanClass::host_compute, 45, 95), "Lua function of the loop");
  add(span(SpanClass::compute, 100, 130), "relu", b);
  add(span(SpanClass::input_wait, 130, 180), "input_wait");
  const StepProfile found = profile({at(120), at(200)});
  ASSERT_EQ(found.gaps.size(), 3U);
  EXPECT_THAT(found.gaps[0].length.count(), DoubleNear(70e-9, 1e-15));
  EXPECT_EQ(found.gaps[0].doing, SpanClass::input_wait);
  EXPECT_EQ(found.gaps[0].step, 2);
  EXPECT_THAT(found.gaps[0].since_step.count(), DoubleNear(10e-9, 1e-15));
  EXPECT_EQ(found.gaps[0].before, "relu");
  EXPECT_EQ(found.gaps[0].after, "");
  EXPECT_EQ(found.gaps[1].what, "Lua function of the loop");
  EXPECT_THAT(found.gaps[1].share, DoubleNear(50.0 / 60, 1e-9));
  EXPECT_EQ(found.gaps[1].step, 1);
  EXPECT_EQ(found.gaps[1].before, "conv2d of conv");
  EXPECT_EQ(found.gaps[1].after, "relu");
  EXPECT_THAT(found.gaps[2].length.count(), DoubleNear(10e-9, 1e-15));
}

TEST_F(ProfileTest, KeepsTheFiveLongestGaps) {
  for (int i = 0; i < 8; ++i) add(span(SpanClass::compute, 10 * i + i, 10 * i + 10), "kernel");
  EXPECT_EQ(profile().gaps.size(), most_gaps);
}

TEST_F(ProfileTest, OfReplicasIsTheMeanOfEach) {
  const NodeId matmul = node("matmul", "dense");
  Span first = span(SpanClass::compute, 0, 60), second = span(SpanClass::compute, 0, 20);
  first.replica = 0;
  second.replica = 1;
  add(first, "matmul", matmul);
  add(second, "matmul", matmul);
  add(span(SpanClass::host_compute, 0, 100), "host_compute");
  const StepProfile found = profile({at(100)}, {{.gpu = -1, .replica = 0}, {.gpu = -1, .replica = 1}});
  EXPECT_EQ(time_of(found, "dense", "matmul"), 40);
  EXPECT_EQ(found.gaps[0].device, 1);
}

TEST_F(ProfileTest, WithoutSpansAllIsOtherAndInDoubt) {
  const StepProfile found = profile({at(100)}, {{}}, 3);
  EXPECT_EQ(time_of(found, SpanClass::other), 100);
  EXPECT_EQ(found.breakdown.doubt, "3 spans of the trace were lost");
  EXPECT_THAT(found.memory, IsEmpty());
}

}  // namespace
}  // namespace gpubench
