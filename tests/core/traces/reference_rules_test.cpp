#include "core/traces/reference_rules.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <string>

#include "core/base/error.h"
#include "core/traces/chrome_trace.h"

namespace gpubench {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

std::string event(std::string_view category, std::string_view name, double begin, double length,
                  std::string_view args = "") {
  return fmt::format(R"({{"ph": "X", "cat": "{}", "name": "{}", "ts": {}, "dur": {}, "pid": 1, "tid": 1, )"
                     R"("args": {{{}}}}},)",
                     category, name, begin, length, args);
}

std::string step(int number, double begin, double length) {
  return event("user_annotation", fmt::format("ProfilerStep#{}", number), begin, length);
}

/// A launch of 5 us and what it launches.
std::string work(int correlation, double launch, double begin, double length, std::string_view category = "kernel",
                 std::string_view name = "gemm", std::string_view more = "") {
  const std::string own = fmt::format(R"("correlation": {}{})", correlation, more);
  return event("cuda_runtime", "cudaLaunchKernel", launch, 5, own) +
         event(category, name, begin, length, own + R"(, "device": 0, "stream": 7)");
}

std::string orphan(double begin, double length, std::string_view name = "gemm") {
  return event("kernel", name, begin, length, R"("correlation": 999, "device": 0, "stream": 7)");
}

ForeignTrace recorded(std::string events) {
  events.pop_back();
  const std::string text = fmt::format(R"({{"schemaVersion": 1, "traceEvents": [{}]}})", events);
  return std::move(
      read_chrome_trace(std::make_unique<ByteSpanSource>("t.json", std::as_bytes(std::span(text)))).front());
}

/// Microseconds by row and class.
std::map<std::string, std::map<std::string, double>> times(const std::string& events, ReferenceRule rule) {
  const ReferenceTable table = reference_table(recorded(events), rule);
  std::map<std::string, std::map<std::string, double>> result;
  for (const ReferenceTable::Row& row : table.rows)
    for (std::size_t i = 0; i < table.classes.size(); ++i)
      result[row.name][std::string(table.classes[i])] = row.times_us[i];
  return result;
}

TEST(KinetoRule, AMomentCountsForTheFirstClassThatIsActive) {
  const auto rows = times(step(3, 0, 1000) + event("cpu_op", "enumerate(DataLoader)#_Iter.__next__", 100, 300) +
                              event("cpu_op", "aten::mm", 350, 350, R"("External id": 5)") +
                              event("cuda_driver", "cuLaunchKernel", 710, 10) + work(1, 500, 600, 200) +
                              work(2, 520, 750, 100, "gpu_memcpy", "Memcpy HtoD") +
                              event("cpu_op", "nccl:all_reduce", 860, 20, R"("External id": 6)") +
                              work(4, 861, 870, 50, "kernel", "exchange", R"(, "External id": 6)"),
                          ReferenceRule::kineto);
  const std::map<std::string, double> wanted = {{"Kernel", 200},       {"Memcpy", 50},  {"Memset", 0},
                                                {"Communication", 60}, {"Runtime", 10}, {"DataLoader", 300},
                                                {"CPU Exec", 190},     {"Other", 190},  {"Total", 1000}};
  EXPECT_EQ(rows.at("3"), wanted);
  EXPECT_EQ(rows.at("average"), wanted);
}

TEST(KinetoRule, StepsLastUntilTheirWorkIsDone) {
  const auto rows = times(step(1, 0, 100) + step(2, 100, 100) + work(1, 10, 50, 80) + work(2, 110, 130, 120) +
                              orphan(-10, 30),  // of a step before the trace, which ends at 20
                          ReferenceRule::kineto);
  EXPECT_EQ(rows.at("1").at("Total"), 110);
  EXPECT_EQ(rows.at("1").at("Kernel"), 80);
  EXPECT_EQ(rows.at("2").at("Total"), 120);
  EXPECT_EQ(rows.at("average").at("Total"), 115);
}

TEST(KinetoRule, LeavesOutLastStepsOfWhichWorkIsMissing) {
  const std::string full = step(1, 0, 100) + work(1, 10, 20, 5) + work(2, 30, 40, 5);
  EXPECT_FALSE(times(full + step(2, 100, 100) + work(3, 110, 120, 5), ReferenceRule::kineto).contains("2"));
  EXPECT_FALSE(times(full + step(2, 100, 100), ReferenceRule::kineto).contains("2"));
}

TEST(KinetoRule, WithoutMarksAllOperatorsAreOneStep) {
  const auto rows = times(event("cpu_op", "aten::to", 100, 60) + event("cpu_op", "aten::mm", 300, 70) +
                              work(1, 310, 320, 100) + event("user_annotation", "far", 900, 100),
                          ReferenceRule::kineto);
  EXPECT_EQ(rows.at("0").at("Total"), 320);
  EXPECT_EQ(rows.at("0").at("Kernel"), 100);
}

TEST(HtaRule, CountsWhatIsLaunchedBetweenTheFirstAndTheLastStep) {
  const auto rows = times(step(1, 100, 100) + step(2, 200, 100) + work(1, 50, 60, 10) + work(2, 110, 120, 100) +
                              work(3, 130, 200, 50, "kernel", "ncclDevKernel") +
                              work(4, 140, 300, 20, "gpu_memcpy", "Memcpy") + work(5, 210, 400, 50),
                          ReferenceRule::hta);
  const std::map<std::string, double> wanted = {{"idle", 50}, {"compute", 100}, {"non_compute", 50}, {"window", 200}};
  EXPECT_EQ(rows.at("all devices"), wanted);
}

TEST(HtaRule, KeepsWholeMicroseconds) {
  const auto rows = times(work(1, 0, 10.4, 5.4) + work(2, 8, 20, 1.5) + work(3, 25, 30.2, 0.5), ReferenceRule::hta);
  EXPECT_EQ(rows.at("all devices").at("compute"), 4 + 1);
  EXPECT_EQ(rows.at("all devices").at("window"), 19);
}

TEST(TracelensRule, SplitsBusyTimeIntoComputationAndWhatIsExposed) {
  const auto rows = times(work(1, 0, 100, 100) + work(2, 1, 150, 100, "kernel", "ncclDevKernel") +
                              work(3, 2, 240, 60, "gpu_memcpy", "Memcpy HtoD") +
                              work(4, 3, 400, 10, "gpu_memset", "Memset") + orphan(0, 50),
                          ReferenceRule::tracelens);
  const std::map<std::string, double> wanted = {
      {"computation_time", 110}, {"exposed_comm_time", 50}, {"exposed_memcpy_time", 50}, {"busy_time", 210},
      {"idle_time", 100},        {"total_time", 310},       {"total_comm_time", 100},    {"total_memcpy_time", 60}};
  EXPECT_EQ(rows.at("all devices"), wanted);
}

TEST(TracelensRule, CountsAllWorkOfATraceWithoutLaunches) {
  EXPECT_EQ(times(orphan(0, 50), ReferenceRule::tracelens).at("all devices").at("total_time"), 50);
}

TEST(ReferenceRules, UseRecordedTimesWhichExplainCorrects) {
  // The clock of the device is 20 us behind that of the host.
  ForeignTrace trace = recorded(work(1, 30, 10, 5) + work(2, 40, 50, 5));
  EXPECT_EQ(reference_table(trace, ReferenceRule::hta).rows.front().times_us.back(), 45);
  correct_device_times(trace);
  EXPECT_EQ(trace.report.moved_to_launch, 1U);
  EXPECT_EQ(trace.device.front().time.begin, 30'000);
}

TEST(ReferenceRules, NameWhatATraceLacks) {
  const auto refusal = [](const std::string& events, ReferenceRule rule, const char* text) {
    EXPECT_THAT([&] { times(events, rule); }, ThrowsMessage<Error>(HasSubstr(text)));
  };
  refusal(orphan(0, 5), ReferenceRule::kineto, "--rule kineto: t.json has neither a ProfilerStep nor an operator");
  refusal(step(1, 0, 5) + step(2, 5, 5) + orphan(0, 5), ReferenceRule::hta,
          "--rule hta: t.json has no work of a device in its steps");
  refusal(step(1, 0, 5), ReferenceRule::tracelens, "--rule tracelens: t.json has no work of a device");
  ForeignTrace other;
  other.file = "o";
  other.format = "XPlane";
  EXPECT_THAT([&] { reference_table(other, ReferenceRule::hta); },
              ThrowsMessage<Error>(HasSubstr("o is XPlane; the rule is for Kineto JSON, which torch.profiler writes")));
  other.format = "Nsight Systems' SQLite export";
  EXPECT_THAT([&] { reference_table(other, ReferenceRule::tracelens); },
              ThrowsMessage<Error>(HasSubstr("which torch.profiler writes, and for XPlane")));
}

}  // namespace
}  // namespace gpubench
