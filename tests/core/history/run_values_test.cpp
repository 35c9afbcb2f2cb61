#include "core/history/run_values.h"

#include <gmock/gmock.h>

#include "core/history/history.h"
#include "tests/core/history/nights.h"
#include "tests/support/files.h"

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

gpubench::Run with_base(std::int64_t base, const std::string& started = "2026-01-01T00:00:00Z") {
  auto run = run_of({.started = started});
  run.info.set("params", Info::Fields{{"base", base}, {"seconds", 1}});
  return run;
}

TEST(RunValues, ParametersThatAreNotTheDefaultsAreInTheKey) {
  auto run = with_base(3);
  EXPECT_EQ(values_of(run).values[0].key.axes, "size=64") << "defaults, or a run of an older program";
  run.info.set("changed_params", Info::List{"base"});
  EXPECT_EQ(values_of(run).values[0].key.axes, "size=64 base=3");
  EXPECT_EQ(values_of(run).values[0].axes_alone, "size=64");
  run.info.set("axis_names", Info::List{"device"});
  EXPECT_EQ(values_of(run).values[0].key.axes, "base=3");
}

class ParametersInHistory : public TemporaryFolder {
 protected:
  std::vector<std::string> axes() const {
    std::vector<std::string> all;
    for (const HistorySeries& series : history_.series())
      if (series.key.metric == "step_time_s") all.push_back(series.key.axes);
    return all;
  }
  void append(std::int64_t base, bool changed) {
    auto run = with_base(base, support::date_of(day_++));
    if (changed) run.info.set("changed_params", Info::List{"base"});
    history_.append(run);
  }
  RunHistory history_{file("history.db")};
  int day_ = 0;
};

TEST_F(ParametersInHistory, SeriesOfDefaultsGoOnAndOthersAreApart) {
  append(1, false);
  append(3, true);
  append(1, false);
  EXPECT_THAT(axes(), testing::ElementsAre("size=64", "size=64 base=3"));
}

TEST_F(ParametersInHistory, ASeriesOfAnOlderProgramGoesOnWithItsParameters) {
  append(3, false);
  append(3, true);
  EXPECT_THAT(axes(), testing::ElementsAre("size=64 base=3"));
  append(1, false);
  append(4, true);
  EXPECT_THAT(axes(), testing::ElementsAre("size=64", "size=64 base=3", "size=64 base=4"));
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
