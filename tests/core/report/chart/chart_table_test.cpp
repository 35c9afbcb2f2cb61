#include "core/report/chart/chart_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gpubench {
namespace {

using ::testing::ElementsAre;

Chart two_series() {
  Chart chart{.spec = {.title = "time by way"},
              .x_label = "way",
              .y_label = "time (ms)",
              .categories = {"loop", "map"},
              .series = {{"small", {{0, 1.25, Interval{1, 1.5}}, {1, 2, {}, true}}},
                         {"large", {{0, 3.14159, {}}}, {{1, "out of memory"}}}},
              .absent = {{"huge", "timeout"}}};
  chart.y_range = {1, 3.14159};
  return chart;
}

TEST(ChartTable, HasEveryFigureAndWhyOthersAreMissing) {
  const Table table = chart_table(two_series(), 10);
  std::vector<std::string> headings;
  for (const Table::Heading& heading : table.headings) headings.push_back(heading.text);
  EXPECT_THAT(headings, ElementsAre("way", "series", "time (ms)", "95 % interval", "note"));
  EXPECT_THAT(table.rows, ElementsAre(ElementsAre("loop", "small", "1.25", "1 to 1.5", ""),
                                      ElementsAre("map", "small", "2", "", "unreliable"),
                                      ElementsAre("loop", "large", "3.142", "", ""),
                                      ElementsAre("map", "large", "", "", "out of memory"),
                                      ElementsAre("", "huge", "", "", "no points: timeout")));
  EXPECT_EQ(figure_count(two_series()), 5u);
  EXPECT_EQ(chart_table(two_series(), 2).rows.size(), 2u);
}

TEST(ChartTable, HasNoSeriesWhereThereIsOnlyOne) {
  Chart chart = two_series();
  chart.categories.clear();
  chart.absent.clear();
  chart.series = {{"", {{2, 7, {}, true, "2 KiB", "batch 8"}}}};
  EXPECT_THAT(chart_table(chart, 10).rows, ElementsAre(ElementsAre("2 KiB", "7", "", "batch 8, unreliable")));
}

TEST(ChartTable, SaysInASentenceWhatTheChartShows) {
  Chart chart = two_series();
  EXPECT_EQ(describe(chart), "time by way. Lines: time (ms) from 1 to 3.142 by way, for small and large.");
  chart.spec.kind = ChartKind::bar;
  chart.series.assign(20, {"s", {{0, 1, {}}}});
  EXPECT_EQ(describe(chart), "time by way. Bars: time (ms) from 1 to 3.142 by way, for 20 series.");
}

TEST(ChartTable, SaysWhichPointsAreLeftOut) {
  Chart chart = two_series();
  EXPECT_EQ(left_out_text(chart), "");
  chart.without_figure = {{1, "loss", ""}, {12, "latency p99", "empty for fewer than 100"}};
  EXPECT_EQ(left_out_text(chart), "1 point has no loss. 12 points have no latency p99: empty for fewer than 100.");
}

}  // namespace
}  // namespace gpubench
