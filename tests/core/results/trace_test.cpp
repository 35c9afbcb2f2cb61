#include "core/results/trace.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>
#include <random>

#include "core/results/profile_info.h"
#include "core/trace/profile.h"
#include "tests/support/expect_error.h"
#include "tests/support/files.h"
#include "tests/support/trace_reader.h"

namespace gpubench {
namespace {

using ::testing::HasSubstr;
using namespace std::chrono_literals;

class TraceTest : public TemporaryFolder {
 protected:
  void add(SpanClass span_class, const std::string& name, const std::string& lane, Clock::duration begin,
           Clock::duration end) {
    Span span;
    span.span_class = span_class;
    span.name = timeline_.name(name);
    span.lane = timeline_.name(lane);
    span.begin = Clock::time_point(begin);
    span.end = Clock::time_point(end);
    timeline_.add(span);
  }
  nlohmann::json written() const {
    write_chrome_trace(timeline_, file("trace.json"));
    return nlohmann::json::parse(contents(file("trace.json")));
  }

  Timeline timeline_{3};
};

TEST_F(TraceTest, SpansAreEventsInMicroseconds) {
  add(SpanClass::launch, "launch", "host", 1s, 1s + 2500ns);
  add(SpanClass::compute, "gemm", "gpu:0 stream 7", 1s + 3us, 1s + 13us);
  const nlohmann::json trace = written();
  const auto& events = trace["traceEvents"];
  ASSERT_EQ(events.size(), 2U + 2 * 2);
  EXPECT_EQ(events[0]["name"], "launch");
  EXPECT_EQ(events[0]["ph"], "X");
  EXPECT_EQ(events[0]["ts"], 0);
  EXPECT_EQ(events[0]["dur"], 2.5);
  EXPECT_EQ(events[1]["cat"], "compute");
  EXPECT_EQ(events[1]["ts"], 3);
  EXPECT_EQ(events[1]["tid"], 1);
  EXPECT_EQ(events[1]["args"]["exact"], true);
  EXPECT_EQ(events[4]["args"]["name"], "gpu:0 stream 7");
  EXPECT_EQ(trace["dropped_spans"], 0);
}

TEST_F(TraceTest, NamesAreEscaped) {
  const std::string name = "k<\"a\\b\">(\n\t\x01)é";
  add(SpanClass::compute, name, "lane \"1\"", 0s, 1s);
  EXPECT_EQ(written()["traceEvents"][0]["name"], name);
  EXPECT_EQ(written()["traceEvents"][1]["args"]["name"], "lane \"1\"");
}

TEST_F(TraceTest, ANameThatIsNoTextIsReadableAllTheSame) {
  add(SpanClass::compute, "bad\xff", "lane", 0s, 1s);
  EXPECT_EQ(written()["traceEvents"][0]["name"], "bad\uFFFD");
}

TEST_F(TraceTest, SaysWhatWasDropped) {
  for (int i = 0; i < 5; ++i) add(SpanClass::copy, "copy", "lane", 0s, 1s);
  EXPECT_EQ(written()["dropped_spans"], 2);
}

TEST_F(TraceTest, AnEmptyTimelineIsAnEmptyTrace) {
  EXPECT_TRUE(written()["traceEvents"].empty());
}

/// Launches of three steps on two devices, each with its replica, copies beside kernels, and a pipeline's thread.
void add_random_steps(Timeline& timeline, const StepMarks& steps) {
  std::mt19937 random(11);
  std::uniform_int_distribution<int> class_of(0, span_class_count - 2), time(0, 90'000), length(1, 30'000), of(0, 2);
  const Clock::time_point begin = steps.begin - 10us;
  for (std::uint32_t i = 1; i <= 200; ++i) {
    Span span;
    span.span_class = static_cast<SpanClass>(class_of(random));
    span.replica = of(random) - 1;
    span.gpu = span.span_class <= SpanClass::memset ? std::max(span.replica, 0) : -1;
    if (span.gpu >= 0) span.replica = -1;
    span.name = timeline.name(to_string(span.span_class));
    span.lane = timeline.name(fmt::format("lane {} {}", span.gpu, span.replica));
    if (span.span_class == SpanClass::launch)
      span.node = timeline.node({.op = "matmul", .layer = fmt::format("dense_{}", of(random)), .role = "forward"});
    span.correlation = i / 4;
    span.begin = begin + Clock::duration(time(random));
    span.end = span.begin + Clock::duration(length(random));
    timeline.add(span);
  }
}

TEST_F(TraceTest, AReaderGetsBreakdownAndProfileBack) {
  const Clock::time_point begin(7s + 123ns);
  Timeline timeline(300);
  timeline.set_steps({.begin = begin,
                      .ends = {begin + 30us, begin + 61us, begin + 90007ns},
                      .devices = {{.gpu = 0, .replica = 0}, {.gpu = 1, .replica = 1}},
                      .lost = 2});
  add_random_steps(timeline, timeline.steps());
  write_chrome_trace(timeline, file("trace.json"));
  const std::unique_ptr<Timeline> timeline_read = support::read_trace(file("trace.json"));
  const StepProfile written = profile_steps(timeline, timeline.steps()),
                    read = profile_steps(*timeline_read, timeline_read->steps());
  EXPECT_EQ(read.breakdown.charged, written.breakdown.charged);
  EXPECT_EQ(read.breakdown.in_small_kernels, written.breakdown.in_small_kernels);
  EXPECT_GT(written.breakdown.in_small_kernels, 0us);
  EXPECT_EQ(read.breakdown.doubt, "2 spans of the trace were lost");
  EXPECT_THAT(to_json(profile_info(read)), HasSubstr("dense_0"));
  EXPECT_EQ(to_json(profile_info(read)), to_json(profile_info(written)));
}

TEST_F(TraceTest, ThrowsWhereItCannotWrite) {
  EXPECT_ERROR(HasSubstr("trace.json"), write_chrome_trace(timeline_, file("no/such/folder/trace.json")));
}

}  // namespace
}  // namespace gpubench
