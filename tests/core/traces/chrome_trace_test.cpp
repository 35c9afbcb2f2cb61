#include "core/traces/chrome_trace.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <string>

#include "core/base/error.h"
#include "core/traces/analysis.h"

namespace gpubench {
namespace {

std::vector<ForeignTrace> read_ranks(const std::string& text) {
  return read_chrome_trace(std::make_unique<ByteSpanSource>("t.json", std::as_bytes(std::span(text))));
}

ForeignTrace read_rank(const std::string& events) {
  return std::move(read_ranks(R"({"schemaVersion": 1, "traceEvents": [)" + events + "]}").front());
}

std::string why_not(const std::string& text) {
  try {
    read_ranks(text);
  } catch (const Error& error) {
    return error.what();
  }
  return "read";
}

/// Times are texts in microseconds.
std::string slice(const std::string& category, const std::string& name, const std::string& begin,
                  const std::string& length, int thread = 1, int device = 0) {
  return fmt::format(R"({{"ph": "X", "cat": "{}", "name": "{}", "ts": {}, "dur": {}, "pid": 1, "tid": {}, )"
                     R"("args": {{"device": {}}}}},)",
                     category, name, begin, length, thread, device);
}

/// All that a run keeps of it.
void explain(ForeignTrace trace) {
  const TraceAnalysis analysis = analyse(std::move(trace));
  row_of(analysis);
  if (analysis.window.length() > 0) profile_of(analysis);
  facts_of(analysis);
}

TEST(ChromeTrace, FilesThatAreNoTraceSayWhyAndWhere) {
  EXPECT_EQ(why_not("{}"), "t.json is JSON without traceEvents: no trace of a profiler");
  EXPECT_EQ(why_not(R"({"schema": "1.1.1-chakra.0.0.4", "nodes": []})"),
            "t.json is an execution trace (schema 1.1.1-chakra.0.0.4), which has no times; give the trace of "
            "torch.profiler, which export_chrome_trace or tensorboard_trace_handler writes");
  EXPECT_EQ(why_not(R"({"schemaVersion": 1, "deviceProp)"),
            "t.json is no trace: it is cut at byte 32, before its traceEvents");
  EXPECT_EQ(why_not(R"({3: 1})"), "t.json is no trace: at byte 1: a text is expected");
  EXPECT_EQ(why_not(""), "t.json is no trace: at byte 0: the file is empty");
  EXPECT_EQ(why_not(R"([1, 2])"), "t.json is no trace: at byte 1: an event begins with {");
}

TEST(ChromeTrace, TimesAtTheLimitsAreLeftOut) {
  std::string events;
  for (int i = 0; i < 40; ++i) events += slice("kernel", "gemm", std::to_string(1000 * i), "500");
  for (const char* begin : {"9223372036854775.807", "-9223372036854775.808", "9223372036854775807", "-1e15", "1e300"})
    for (const char* category : {"kernel", "cpu_op", "overhead", ""})
      events += slice(category, "far", begin, "9223372036854775.807") + slice(category, "far", begin, "1");
  const ForeignTrace trace = read_rank(events + "{}");
  EXPECT_EQ(trace.device.size(), 40U);
  EXPECT_TRUE(trace.host.empty());
  EXPECT_EQ(trace.report.without_time, 40U);
}

TEST(ChromeTrace, ATimeOfZeroAmongThoseSinceTheEpochIsLeftOut) {
  std::string events = slice("kernel", "gemm", "0", "5");
  for (int i = 0; i < 40; ++i) events += slice("kernel", "gemm", fmt::format("17121954955{:05}.772", 97 * i), "50");
  const TraceAnalysis analysis = analyse(read_rank(events + "{}"));
  EXPECT_LT(analysis.window_s(), 1);
  EXPECT_EQ(analysis.trace.report.without_time, 1U);
}

TEST(ChromeTrace, LongOverlappingEventsHaveFiniteSums) {
  std::string events;
  for (int i = 0; i < 9000; ++i)
    for (const char* category : {"kernel", "gpu_memcpy", "cpu_op", "overhead", "user_annotation"})
      events += slice(category, i % 2 == 0 ? "ProfilerStep#1" : "Iterator::Map", fmt::format("{}", i), "2e12", i % 3);
  const TraceAnalysis analysis = analyse(read_rank(events + "{}"));
  EXPECT_NEAR(analysis.window_s(), 2e6, 1);
  explain(read_rank(events + "{}"));
}

TEST(ChromeTrace, EventsWithoutAValidLengthAreCounted) {
  const ForeignTrace trace = read_rank(slice("cpu_op", "a", "5", "-1") + slice("cpu_op", "b", "NaN", "1") +
                                       slice("cpu_op", "c", "1", "\"x\"") + slice("cpu_op", "d", "1", "1") +
                                       R"({"ph": "X", "cat": "cpu_op", "name": "e", "ts": 1},
                                       {"ph": "E", "name": "f", "ts": 1, "pid": 1, "tid": 1},
                                       {"ph": "B", "name": "g", "ts": 9, "pid": 1, "tid": 1},
                                       {"ph": "E", "ts": 1, "pid": 1, "tid": 1})");
  EXPECT_EQ(trace.host.size(), 1U);
  EXPECT_EQ(trace.report.without_time, 6U);
}

TEST(ChromeTrace, EventsInAnyOrderAndTwiceAreThoseInOrderOnce) {
  const std::array<std::string, 3> events = {slice("cpu_op", "a", "1", "9"), slice("cpu_op", "b", "2", "3"),
                                             slice("kernel", "k", "4", "3")};
  const ForeignTrace right = read_rank(events[0] + events[1] + events[2]);
  const ForeignTrace other = read_rank(events[2] + events[1] + events[0] + events[1] + events[2]);
  ASSERT_EQ(other.host.size(), 2U);
  EXPECT_EQ(other.report.duplicates, 2U);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(other.host[i].time, right.host[i].time);
    EXPECT_EQ(other.text(other.host[i]), right.text(right.host[i]));
  }
}

TEST(ChromeTrace, BytesThatAreNoTextAreShown) {
  std::string events;
  for (int i = 0; i < 40; ++i)
    events += slice("kernel", "a\xFF\xEF\xBF\xBD\\ud800\\u12 <\x01", std::to_string(100 * i), "50");
  const TraceAnalysis analysis = analyse(read_rank(events + "{}"));
  const std::string text = to_json(profile_of(analysis));
  EXPECT_EQ(text.find('\xFF'), std::string::npos);
  EXPECT_NE(text.find("\xEF\xBF\xBD"), std::string::npos);
}

TEST(ChromeTrace, NamesOfAMegabyteAreKeptInPart) {
  const ForeignTrace trace = read_rank(slice("kernel", std::string(1 << 20, 'n'), "1", "2") +
                                       slice("kernel", std::string(1 << 20, 'n') + "2", "3", "2"));
  EXPECT_EQ(trace.text(trace.device.front()).size(), longest_name);
  explain(read_rank(slice("kernel", std::string(1 << 20, 'n'), "1", "2")));
}

TEST(ChromeTrace, DevicesAndRanksHaveLimits) {
  std::string events;
  for (int i = 0; i < 70'000; ++i) events += slice("kernel", "k", "1", "2", 1, i);
  EXPECT_EQ(why_not("[" + events + "{}]"), "t.json: the trace has more than 256 devices");
  events.clear();
  for (int i = 0; i < 300; ++i)
    events +=
        fmt::format(R"({{"ph": "M", "name": "process_name", "pid": {0}, "args": {{"name": "/device:GPU:{0}"}}}},)"
                    R"({{"ph": "M", "name": "thread_name", "pid": {0}, "tid": 1, "args": {{"name": "stream 1"}}}},)"
                    R"({{"ph": "X", "name": "k", "ts": 1, "dur": 1, "pid": {0}, "tid": 1}},)",
                    i);
  EXPECT_EQ(why_not("[" + events + "{}]"), "t.json: the trace has more than 256 devices");
  events.clear();
  for (int i = 0; i < 2000; ++i) events += fmt::format(R"({{"ph": "X", "ts": 1, "dur": 1, "pid": "[DP{}] 1"}},)", i);
  EXPECT_EQ(why_not("[" + events + "{}]"), "t.json has more than 1024 ranks");
}

TEST(ChromeTrace, FactsThatAreNoNumbersAreLeftOut) {
  for (const char* number : {"1e300", "-1e300", "\"x\"", "[1]", "-3", "99999999999999999999", "NaN"}) {
    const ForeignTrace trace = std::move(
        read_ranks(fmt::format(R"({{"baseTimeNanoseconds": {0}, "distributedInfo": {{"rank": {0}, "world_size": {0}}},
            "deviceProperties": [{{"id": {0}, "totalGlobalMem": {0}}}, 3, null], "traceEvents": [{1}{{}}]}})",
                               number, slice("kernel", "k", "1", "2")))
            .front());
    EXPECT_EQ(trace.rank, -1) << number;
    EXPECT_EQ(trace.world_size, 0) << number;
  }
  const auto exact = read_ranks(R"({"baseTimeNanoseconds": 1700000000123456789, "traceEvents": [{"ph": "M"}]})");
  EXPECT_EQ(exact.front().zero, 1700000000123456789);
}

TEST(ChromeTrace, ThousandsOfThreadsStreamsAndStepsEndSoon) {
  std::string events;
  for (int i = 0; i < 20'000; ++i) {
    const std::string begin = std::to_string(10 * i);
    events += slice("user_annotation", fmt::format("ProfilerStep#{}", i), begin, "10", 1);
    for (const int part : {0, 3, 6})
      events += slice("user_annotation", "Optimizer.step#SGD", std::to_string(10 * i + part), "1", 1);
    events += slice("cpu_op", fmt::format("op{}", i), begin, "4", 2 + i) + slice("kernel", "k", begin, "5", i);
  }
  const TraceAnalysis analysis = analyse(read_rank(events + "{}"));
  EXPECT_EQ(analysis.steps.rule, "Optimizer.step#");
  EXPECT_EQ(analysis.trace.threads.size(), 20'001U);
  explain(read_rank(events + "{}"));
}

TEST(ChromeTrace, ThousandsOfOverlappingEventsEndSoon) {
  std::string events;
  for (int i = 0; i < 60'000; ++i) {
    events += slice("cpu_op", "aten::add", std::to_string(i), "1e6", 1);
    events += slice("kernel", "k", std::to_string(2'000'000 + i), "1e6", i % 5000);
  }
  explain(read_rank(events + "{}"));
}

TEST(ChromeTrace, KernelsWithNamesOfTheirOwnShareOneLineOfTheProfile) {
  std::string events;
  for (int i = 0; i < 30'000; ++i) events += slice("kernel", fmt::format("kernel{}", i), std::to_string(10 * i), "5");
  const TraceAnalysis analysis = analyse(read_rank(events + "{}"));
  const Info profile = profile_of(analysis);
  EXPECT_LT(profile.items("ops").size(), 2010U);
  EXPECT_TRUE(
      std::ranges::any_of(profile.items("ops"), [](const Info& one) { return one.text("op") == "other kernels"; }));
}

TEST(ChromeTrace, PeriodicKernelsWithoutTheHostAreIdleWithoutALaunch) {
  std::string events;
  for (int i = 0; i < 40; ++i) events += slice("kernel", "gemm", std::to_string(1000 * i), "400");
  const TraceAnalysis analysis = analyse(read_rank(events + "{}"));
  ASSERT_GT(analysis.step_count(), 30);
  for (const IdlePart& part : analysis.idle.front()) EXPECT_EQ(part.kind, IdleKind::no_launch);
  explain(read_rank(events + "{}"));
}

}  // namespace
}  // namespace gpubench
