#include "core/trace/breakdown.h"

#include <algorithm>
#include <gmock/gmock.h>
#include <numeric>
#include <random>
#include <vector>

#include "tests/core/trace/spans.h"

namespace gpubench {
namespace {

using support::at;
using support::break_down;
using support::span;
using ::testing::DoubleEq;
using namespace std::chrono_literals;

constexpr Window window{Clock::time_point(0ns), Clock::time_point(100ns)};

long charged(const Breakdown& breakdown, SpanClass span_class) {
  return breakdown.charged[static_cast<std::size_t>(span_class)].count();
}

TEST(Breakdown, ADeviceIsBusyWhileAnyKernelRunsThoseOfExchangesToo) {
  const std::vector spans = {span(SpanClass::compute, 10, 30),       span(SpanClass::compute, 20, 40),
                             span(SpanClass::communication, 35, 55), span(SpanClass::communication, 50, 52),
                             span(SpanClass::communication, 70, 80), span(SpanClass::copy, 0, 100)};
  const Breakdown breakdown = break_down(spans, window);
  EXPECT_THAT(breakdown.share(SpanClass::compute), DoubleEq(0.3));
  EXPECT_THAT(breakdown.device_busy(), DoubleEq(0.55)) << "10 to 55 and 70 to 80";
}

TEST(Breakdown, SpansAreCutToTheWindow) {
  const std::vector spans = {span(SpanClass::compute, -50, 10), span(SpanClass::compute, 95, 200),
                             span(SpanClass::compute, 300, 400), span(SpanClass::compute, 50, 50)};
  EXPECT_EQ(charged(break_down(spans, window), SpanClass::compute), 15);
}

TEST(Breakdown, AMomentGoesToTheFirstClassThatHasASpan) {
  const Breakdown breakdown = break_down(
      std::vector{span(SpanClass::host_compute, 0, 98), span(SpanClass::input_wait, 0, 40),
                  span(SpanClass::copy, 20, 50), span(SpanClass::compute, 30, 45), span(SpanClass::launch, 40, 70)},
      window);
  EXPECT_EQ(charged(breakdown, SpanClass::compute), 15);
  EXPECT_EQ(charged(breakdown, SpanClass::copy), 15) << "20 to 30 and 45 to 50";
  EXPECT_EQ(charged(breakdown, SpanClass::input_wait), 20);
  EXPECT_EQ(charged(breakdown, SpanClass::launch), 20) << "only while the device idles";
  EXPECT_EQ(charged(breakdown, SpanClass::host_compute), 28);
  EXPECT_EQ(charged(breakdown, SpanClass::other), 2);
  EXPECT_THAT(breakdown.share(SpanClass::compute), DoubleEq(0.15));
  EXPECT_THAT(breakdown.device_busy(), DoubleEq(0.15));
  EXPECT_EQ(breakdown.doubt, "");
}

TEST(Breakdown, WithoutSpansAllIsUnexplained) {
  const Breakdown breakdown = break_down({}, window);
  EXPECT_EQ(breakdown.share(SpanClass::other), 1);
  EXPECT_EQ(breakdown.device_busy(), 0);
  EXPECT_EQ(breakdown.doubt, "100 % of the time are unexplained");
}

TEST(Breakdown, SaysWhyItIsInDoubt) {
  EXPECT_EQ(break_down(std::vector{span(SpanClass::compute, 0, 95)}, window).doubt, "");
  EXPECT_EQ(break_down(std::vector{span(SpanClass::compute, 0, 94)}, window).doubt, "6 % of the time are unexplained");
  std::vector spans = {span(SpanClass::compute, 0, 100)};
  EXPECT_EQ(break_down(spans, window, 3).doubt, "3 spans of the trace were lost");
  spans[0].is_exact = false;
  EXPECT_EQ(break_down(spans, window).doubt, "the trace has a graph's launch without its nodes' times");
}

TEST(Breakdown, OfSeveralGpusIsTheMeanOfEachWithTheHost) {
  const auto on_gpu = [](int gpu, Span one) {
    one.gpu = gpu;
    return one;
  };
  std::vector spans = {on_gpu(1, span(SpanClass::compute, 0, 80)), on_gpu(3, span(SpanClass::compute, 40, 60)),
                       on_gpu(3, span(SpanClass::communication, 60, 80)), span(SpanClass::host_compute, 0, 100),
                       on_gpu(0, span(SpanClass::copy, 0, 100))};
  const std::vector<TracedDevice> gpus{{.gpu = 1}, {.gpu = 3}};
  const Breakdown breakdown = break_down_each(spans, gpus, window);
  EXPECT_EQ(breakdown.share(SpanClass::compute), 0.5);
  EXPECT_EQ(breakdown.share(SpanClass::communication), 0.1);
  EXPECT_EQ(breakdown.share(SpanClass::host_compute), 0.4);
  EXPECT_EQ(breakdown.share(SpanClass::copy), 0) << "of a GPU that takes no part";
  EXPECT_THAT(breakdown.device_busy(), DoubleEq(0.6)) << "with the kernels of exchanges";
  EXPECT_EQ(breakdown.doubt, "");
  EXPECT_EQ(break_down_each(spans, gpus, window, 2).doubt, "2 spans of the trace were lost");
  spans.erase(spans.begin() + 3);
  EXPECT_EQ(break_down_each(spans, gpus, window).doubt, "40 % of the time are unexplained");
  EXPECT_EQ(break_down_each(spans, std::vector<TracedDevice>{{}}, window).share(SpanClass::copy), 0.2)
      << "all devices as one";
}

TEST(Breakdown, KnowsTheTimeInSmallKernels) {
  const Window long_window{at(0), at(100'000)};
  const std::vector spans = {span(SpanClass::compute, 0, 19'000), span(SpanClass::compute, 10'000, 40'000),
                             span(SpanClass::copy, 50'000, 60'000)};
  EXPECT_EQ(break_down(spans, long_window).small_kernel_share(), 0.19);
  EXPECT_EQ(break_down_each(spans, std::vector<TracedDevice>(2), long_window).small_kernel_share(), 0.19);
}

TEST(Breakdown, OfEachStepSumsToThatOfAll) {
  const std::vector spans = {span(SpanClass::compute, 5, 45), span(SpanClass::copy, 40, 70),
                             span(SpanClass::host_sync, 60, 100)};
  const StepMarks steps{at(0), {at(30), at(40), at(100)}, std::vector<TracedDevice>(2), 0};
  const std::vector<Breakdown> each = break_down_steps(spans, steps);
  ASSERT_EQ(each.size(), 3U);
  EXPECT_NEAR(each[0].share(SpanClass::other), 5.0 / 30, 1e-12);
  EXPECT_EQ(each[1].share(SpanClass::compute), 1);
  EXPECT_NEAR(each[2].share(SpanClass::copy), 25.0 / 60, 1e-12);
  const Breakdown all = break_down_each(spans, steps.devices, steps.window());
  for (std::size_t i = 0; i < span_class_count; ++i)
    EXPECT_EQ(each[0].charged[i] + each[1].charged[i] + each[2].charged[i], all.charged[i]);
}

TEST(Breakdown, OfReplicasInHostThreadsIsTheMeanOfEachWithTheStepLoop) {
  const auto of_replica = [](int replica, Span one) {
    one.replica = replica;
    return one;
  };
  const std::vector spans = {of_replica(0, span(SpanClass::compute, 0, 80)),
                             of_replica(1, span(SpanClass::compute, 0, 40)),
                             of_replica(1, span(SpanClass::peer_wait, 40, 80)), span(SpanClass::host_compute, 0, 100)};
  const std::vector<TracedDevice> replicas{{.gpu = -1, .replica = 0}, {.gpu = -1, .replica = 1}};
  const Breakdown breakdown = break_down_each(spans, replicas, window);
  EXPECT_EQ(breakdown.share(SpanClass::compute), 0.6);
  EXPECT_EQ(breakdown.share(SpanClass::peer_wait), 0.2);
  EXPECT_EQ(breakdown.share(SpanClass::host_compute), 0.2);
}

// What the sweep must come to, moment by moment.
std::array<long, span_class_count> charged_by_moments(const std::vector<Span>& spans) {
  std::array<long, span_class_count> result{};
  for (int moment = 0; moment < 100; ++moment) {
    std::size_t first = span_class_count - 1;
    for (const Span& one : spans) {
      if (one.begin <= at(moment) && at(moment) < one.end) {
        first = std::min(first, static_cast<std::size_t>(one.span_class));
      }
    }
    ++result[first];
  }
  return result;
}

// In which a kernel runs, whatever else does.
long busy_moments(const std::vector<Span>& spans) {
  long count = 0;
  for (int moment = 0; moment < 100; ++moment) {
    count += std::ranges::any_of(spans, [&](const Span& one) {
      const bool is_kernel = one.span_class == SpanClass::compute || one.span_class == SpanClass::communication;
      return is_kernel && one.begin <= at(moment) && at(moment) < one.end;
    });
  }
  return count;
}

TEST(Breakdown, AgreesWithCountingMomentsAndSumsToTheWindow) {
  std::mt19937 random(20);
  std::uniform_int_distribution<int> class_of(0, span_class_count - 2), time(-20, 120), length(0, 40), count(0, 12);
  for (int trial = 0; trial < 500; ++trial) {
    std::vector<Span> spans;
    for (int i = count(random); i > 0; --i) {
      const int begin = time(random);
      spans.push_back(span(static_cast<SpanClass>(class_of(random)), begin, begin + length(random)));
    }
    const Breakdown breakdown = break_down(spans, window);
    const auto expected = charged_by_moments(spans);
    double shares = 0;
    for (std::size_t i = 0; i < span_class_count; ++i) {
      EXPECT_EQ(breakdown.charged[i].count(), expected[i]) << "class " << i << ", trial " << trial;
      shares += breakdown.share(static_cast<SpanClass>(i));
    }
    EXPECT_NEAR(shares, 1, 1e-12);
    EXPECT_EQ(std::accumulate(breakdown.charged.begin(), breakdown.charged.end(), Clock::duration{}), 100ns);
    EXPECT_NEAR(breakdown.device_busy(), static_cast<double>(busy_moments(spans)) / 100, 1e-12);
  }
}

}  // namespace
}  // namespace gpubench
