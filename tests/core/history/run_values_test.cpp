#include "core/history/run_values.h"

#include <gmock/gmock.h>

#include "tests/core/history/nights.h"

namespace gpubench {
namespace {

using support::run_of;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::vector<std::string> metrics(const RunValues& run) {
  std::vector<std::string> names;
  for (const RunValue& value : run.values) names.push_back(value.key.metric);
  return names;
}

TEST(RunValues, AreTheFiguresWithTheKeyOfTheirSeries) {
  const RunValues run = values_of(run_of({}));
  EXPECT_THAT(metrics(run), testing::ElementsAre("step_time_s", "flops_per_s", "warmup_s"));
  const SeriesKey& key = run.values.at(0).key;
  EXPECT_EQ(key.host, "a");
  EXPECT_EQ(key.card, "GPU-1");
  EXPECT_EQ(key.slot, "gpu:0");
  EXPECT_EQ(key.suite, "night");
  EXPECT_EQ(key.axes, "size=64") << "the device is the slot";
  EXPECT_EQ(run.values[0].low, 0.99 * 0.01);
  EXPECT_EQ(run.values[0].high, 1.01 * 0.01);
  EXPECT_EQ(run.values[2].low, std::nullopt);
}

TEST(RunValues, WatchedIsWhatTheExperimentIsAbout) {
  const RunValues run = values_of(run_of({}));
  EXPECT_TRUE(run.values[0].watched);
  EXPECT_FALSE(run.values[2].watched) << "no claim or chart is about warmup_s";
  auto without = run_of({});
  without.info.set("figures", Info::List{});
  EXPECT_TRUE(values_of(without).values[2].watched);
}

TEST(RunValues, RowsThatAreUnreliableOrFailed) {
  auto run = run_of({.quality = "unreliable: busy"});
  EXPECT_FALSE(values_of(run).values.at(0).reliable);
  run.records[0].set("status", std::string("timeout"));
  EXPECT_TRUE(values_of(run).values.empty());
  run.records[0].set("status", std::string("ok"));
  run.records[0].set("step_time_s", std::nan(""));
  EXPECT_THAT(metrics(values_of(run)), Not(testing::Contains("step_time_s")));
}

TEST(RunValues, RowsOfOnePointAreToldApart) {
  auto run = run_of({});
  run.columns.push_back(column_of("message_bytes"));
  run.columns.push_back(column_of("op"));
  run.records.push_back(run.records[0]);
  EXPECT_EQ(values_of(run).values.back().key.axes, "size=64 #2");
  run.records[1].set("message_bytes", std::int64_t{4096});
  EXPECT_EQ(values_of(run).values.back().key.axes, "size=64 message_bytes=4096") << "a setting of the measurement";
}

TEST(RunValues, TheEnvironmentIsWhatMayExplainAChange) {
  const std::string facts = values_of(run_of({})).environment;
  EXPECT_THAT(facts, AllOf(HasSubstr(R"("devices.gpu:0.details.driver":"580.1")"),
                           HasSubstr(R"("program.commit":"c1")"), Not(HasSubstr("load_1min"))));
  EXPECT_EQ(facts, values_of(run_of({.step_time_s = 1, .started = "2027-01-01T00:00:00Z"})).environment);
}

TEST(RunValues, ARunWithoutFactsHasStillItsHost) {
  auto run = run_of({});
  run.info = Info::Fields{{"status", "done"}};
  const RunValues values = values_of(run);
  EXPECT_EQ(values.host, "a");
  EXPECT_EQ(values.experiment, "matmul");
  EXPECT_EQ(values.suite, "");
  EXPECT_EQ(values.values.at(0).key.card, "");
}

}  // namespace
}  // namespace gpubench
