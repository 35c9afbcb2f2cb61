#include "core/report/chart/comparison_charts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/report/chart/gnuplot.h"
#include "tests/core/compare/sides.h"

namespace gpubench {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// A row for each middle value, with batch sizes from 1.
Side rows_of(const std::string& name, const std::string& column, const std::vector<double>& middles) {
  Side side = side_with(name, column, seven_around(1));
  for (std::size_t k = 0; k < side.processes.size(); ++k) {
    MeasuringProcess& process = side.processes[k];
    const Record first = process.records[0];
    process.records.clear();
    for (std::size_t i = 0; i < middles.size(); ++i) {
      Record& record = process.records.emplace_back(first);
      record.set("batch_size", static_cast<std::int64_t>(i + 1));
      record.set(column, seven_around(middles[i])[k]);
    }
  }
  return side;
}

std::vector<Chart> charts_of(const Side& before, const Side& after) {
  const std::vector<Side> sides{before, after};
  return comparison_charts(compare_sides(sides));
}

TEST(ComparisonCharts, ChangesForTheWorseStandOnTop) {
  const std::vector<Chart> charts =
      charts_of(rows_of("a", "step_time_s", {1, 1, 1}), rows_of("b", "step_time_s", {0.9, 1, 1.2}));
  ASSERT_EQ(charts.size(), 2u);
  EXPECT_THAT(charts[0].categories, ElementsAre("batch_size=3", "batch_size=2", "batch_size=1"));
  ASSERT_EQ(charts[0].series.size(), 3u);
  EXPECT_EQ(charts[0].series[0].name, "SLOWER");
  EXPECT_NEAR(charts[0].series[0].points[0].y, 20, 0.01);
  EXPECT_LT(charts[0].series[0].points[0].interval->low, 20);
  EXPECT_EQ(charts[1].categories, std::vector<std::string>{"batch_size=3"}) << "the processes of what is worse";
  EXPECT_EQ(charts[1].series[0].points.size(), 7u);
  EXPECT_EQ(charts[1].series[1].name, "b");
}

TEST(ComparisonCharts, ARateThatFallsIsAChangeForTheWorse) {
  const std::vector<Chart> charts =
      charts_of(rows_of("a", "examples_per_s", {100}), rows_of("b", "examples_per_s", {80}));
  const ChartPoint& point = charts.at(0).series.at(0).points.at(0);
  EXPECT_NEAR(point.y, 20, 0.01);
  EXPECT_LE(point.interval->low, point.y);
  EXPECT_GE(point.interval->high, point.y);
}

TEST(ComparisonCharts, OfManyChangesTheLargestAreDrawn) {
  std::vector<double> before(60, 1), after(60, 1);
  after[59] = 2;
  const Chart chart = charts_of(rows_of("a", "step_time_s", before), rows_of("b", "step_time_s", after)).at(0);
  EXPECT_EQ(chart.categories.size(), 40u);
  EXPECT_EQ(chart.categories.front(), "batch_size=60");
  EXPECT_THAT(chart.spec.title, HasSubstr("The largest 40 of 60 changes"));
}

TEST(ComparisonCharts, NothingThatWasComparedIsNoChart) {
  EXPECT_THAT(charts_of(rows_of("a", "step_time_s", {1}), rows_of("b", "step_time_s", {})), IsEmpty());
}

TEST(IntervalChart, LaysNamesDownTheSideAndFiguresAcross) {
  const Chart chart = charts_of(rows_of("a", "step_time_s", {1, 1}), rows_of("b", "step_time_s", {1.5, 1.2})).at(0);
  const std::string script = gnuplot_script(chart, chart_height(chart), {ChartFormat::svg});
  EXPECT_THAT(script,
              AllOf(HasSubstr("set xlabel 'change for the worse (%)'"),
                    HasSubstr("set ytics ('batch_size=1' 0, 'batch_size=2' 1)"), HasSubstr("set yrange [1.6:-0.6]"),
                    HasSubstr("set arrow from first 0, graph 0 to first 0, graph 1 nohead"),
                    HasSubstr("using 3:2:($4 > $3 ? $4 - $3 : NaN):(0) with vectors")));
  EXPECT_THAT(
      gnuplot_script(charts_of(rows_of("a", "step_time_s", {1}), rows_of("b", "step_time_s", {2})).at(1), 400, {}),
      HasSubstr(" -0.1 "))
      << "points of two sides stand beside each other";
}

}  // namespace
}  // namespace gpubench
