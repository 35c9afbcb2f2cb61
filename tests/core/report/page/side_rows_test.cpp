#include "core/report/page/side_rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/report/chart/chart_info.h"
#include "tests/core/compare/sides.h"

namespace gpubench {
namespace {

using ::testing::ElementsAre;

Side with_charts(Side side) {
  for (MeasuringProcess& process : side.processes) {
    process.info.set("axis_names", Info::List{"batch_size"});
    process.info.set("charts", Info::List{chart_info({.x = "batch_size", .y = "step_time_s"}),
                                          chart_info({.x = "batch_size", .y = "step_time_s", .series = "batch_size"})});
  }
  return side;
}

TEST(RunsOfSides, ARowIsTheMedianOverItsProcesses) {
  const std::vector<Side> sides{side_with("a", "step_time_s", {1, 2, 3, 4, 5, 6, 7}),
                                side_with("b", "step_time_s", {9})};
  const gpubench::Run run = runs_of_sides(sides).at(0);
  ASSERT_EQ(run.records.size(), 2u);
  EXPECT_EQ(number_in(run.records[0].get("step_time_s")), 4);
  EXPECT_EQ(number_in(run.records[0].get("step_time_low_s")), 1);
  EXPECT_EQ(number_in(run.records[0].get("step_time_high_s")), 7);
  EXPECT_EQ(to_text(run.records[0].get("side")), "a");
  EXPECT_EQ(to_text(run.records[1].get("side")), "b");
  EXPECT_EQ(number_in(run.records[1].get("batch_size")), 32) << "an axis is no figure";
}

TEST(RunsOfSides, TheSidesAreSeriesOfTheExperimentsCharts) {
  const std::vector<Side> sides{with_charts(side_with("a", "step_time_s", {1})),
                                with_charts(side_with("b", "step_time_s", {2}))};
  const gpubench::Run run = runs_of_sides(sides).at(0);
  const std::vector<ChartSpec> specs = charts_in(run.info);
  ASSERT_EQ(specs.size(), 2u);
  EXPECT_EQ(specs[0].series, "side");
  EXPECT_EQ(specs[1].series, "batch_size");
  EXPECT_THAT(run.info.texts("axis_names"), ElementsAre("side", "batch_size"));
  const Chart chart = make_chart(specs[0], run.columns, run.records, chart_axes_in(run.info));
  ASSERT_EQ(chart.series.size(), 2u);
  EXPECT_EQ(chart.series[0].name, "a");
  EXPECT_EQ(chart.series[1].name, "b");
}

TEST(RunsOfSides, OneSideHasNoAxisOfSides) {
  const std::vector<Side> sides{with_charts(side_with("a", "step_time_s", {1}))};
  const gpubench::Run run = runs_of_sides(sides).at(0);
  EXPECT_EQ(charts_in(run.info).at(0).series, "");
  EXPECT_THAT(run.info.texts("axis_names"), ElementsAre("batch_size"));
}

TEST(RunsOfSides, ARowThatFailedKeepsItsReason) {
  Side side = with_charts(side_with("a", "step_time_s", {1}));
  side.processes[0].records.push_back(
      {{"batch_size", std::int64_t{64}}, {"status", std::string("out_of_memory")}, {"detail", std::string("1 GiB")}});
  const std::vector<Side> sides{side};
  const gpubench::Run run = runs_of_sides(sides).at(0);
  ASSERT_EQ(run.records.size(), 2u);
  EXPECT_EQ(to_text(run.records[1].get("status")), "out_of_memory");
  EXPECT_EQ(run.records[1].get("batch_size"), Cell(std::int64_t{64}));
}

TEST(RunsOfSides, AColumnThatIsCalledSideStays) {
  std::vector<Side> sides{side_with("a", "side", {1}), side_with("b", "side", {2})};
  const gpubench::Run run = runs_of_sides(sides).at(0);
  EXPECT_EQ(number_in(run.records[0].get("side")), 1);
  EXPECT_EQ(to_text(run.records[0].get("side_")), "a");
}

TEST(RunsOfSides, MostProcessesInDoubtMakeARowDoubtful) {
  Side side = side_with("a", "step_time_s", {1, 2, 3});
  side.processes[0].records[0].set("quality", std::string("unreliable: noise"));
  std::vector<Side> sides{side};
  EXPECT_EQ(to_text(runs_of_sides(sides).at(0).records[0].get("quality")), "ok");
  sides[0].processes[1].records[0].set("quality", std::string("unreliable: noise"));
  EXPECT_EQ(to_text(runs_of_sides(sides).at(0).records[0].get("quality")), "unreliable: noise");
}

}  // namespace
}  // namespace gpubench
