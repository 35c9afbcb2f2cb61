#include "core/report/page/history_page.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/report/chart/trend_charts.h"

namespace gpubench {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

SeriesTrend series_of(const std::string& axes, const std::vector<double>& values,
                      std::vector<ReportedChange> changes = {}) {
  SeriesTrend one{.series = {.key = {.host = "node7",
                                     .card = "c",
                                     .slot = "gpu:0",
                                     .suite = "hardware",
                                     .experiment = "matmul",
                                     .axes = axes,
                                     .metric = "step_time_s"},
                             .column = column_of("step_time_s"),
                             .watched = true},
                  .changes = std::move(changes)};
  for (std::size_t i = 0; i < values.size(); ++i)
    one.points.push_back({.run = fmt::format("night{:02}", i + 1),
                          .started = fmt::format("2026-03-{:02}T02:00:00Z", i + 1),
                          .value = values[i],
                          .reliable = i != 1});
  return one;
}

ReportedChange change_of(int id, const std::string& run, ChangeState state, double after) {
  return {.id = id,
          .run = run,
          .reported = run,
          .before = 0.010,
          .after = after,
          .cause = "code (program.commit a -> b)",
          .state = state,
          .closed = state == ChangeState::recovered ? "night04" : ""};
}

TEST(HistoryPage, BeginsWithWhatIsOpen) {
  const Trend trend{series_of("size=1", {0.01, 0.01, 0.015}, {change_of(3, "night03", ChangeState::open, 0.015)}),
                    series_of("size=2", {0.02, 0.02, 0.02})};
  const std::string page = history_page("matmul", trend);
  EXPECT_THAT(
      page,
      AllOf(HasSubstr("<h1>1 regression is open: step time takes 50.0 % more time since night03 (size=1 on gpu:0 of "
                      "node7, suite hardware)</h1>"),
            HasSubstr("verdict refuted\">#3 takes 50.0 % more time</th>"),
            HasSubstr("<td>code (program.commit a -&gt; b)</td>"), HasSubstr("download=\"matmul.csv\""),
            HasSubstr("<summary>1 figure without a change</summary>"), HasSubstr("2 figures of 3 runs")));
}

TEST(HistoryPage, WhatHasRecoveredIsShownAndNotOpen) {
  const Trend trend{series_of(
      "", {1, 2, 2, 1},
      {change_of(1, "night02", ChangeState::recovered, 0.015), change_of(2, "night04", ChangeState::better, 0.005)})};
  EXPECT_EQ(trend_headline(trend), "No regression is open after 2 changes in 4 runs");
  EXPECT_THAT(history_page("matmul", trend),
              AllOf(HasSubstr("recovered with night04"), HasSubstr("verdict confirmed\">#2")));
  EXPECT_EQ(trend_headline({series_of("", {1, 1})}), "No figure has changed in 2 runs");
}

TEST(HistoryPage, AnEmptyTrendIsAPage) {
  EXPECT_THAT(history_page("matmul", {}),
              AllOf(HasSubstr("No figure has changed in 0 runs"), HasSubstr("No change of matmul was reported."),
                    Not(HasSubstr("<svg"))));
}

TEST(TrendCharts, SettingsOfOneFigureAreLinesAndChangesAreMarked) {
  const SeriesTrend one =
      series_of("size=1", {0.01, 0.01, 0.015},
                {change_of(3, "night03", ChangeState::open, 0.015), change_of(4, "night03", ChangeState::open, 0.015)});
  const SeriesTrend other = series_of("size=2", {0.02, 0.02, 0.02, 0.02});
  const std::vector<Chart> charts = trend_charts({&one, &other});
  ASSERT_EQ(charts.size(), 1u);
  EXPECT_EQ(charts[0].spec.title, "step time on gpu:0 of node7, suite hardware");
  ASSERT_EQ(charts[0].series.size(), 2u);
  EXPECT_EQ(charts[0].series[1].points.back().x, 4);
  EXPECT_THAT(charts[0].marks, ElementsAre(PlacedMark{3, "#3, #4"}));
  EXPECT_TRUE(charts[0].series[0].points[1].unreliable);
  EXPECT_FALSE(charts[0].series[0].points[0].unreliable);
}

TEST(TrendCharts, ManySettingsTakeSeveralCharts) {
  Trend all;
  for (int i = 0; i < 13; ++i) all.push_back(series_of(fmt::format("size={}", i), {1, 2}));
  std::vector<const SeriesTrend*> series;
  for (const SeriesTrend& one : all) series.push_back(&one);
  const std::vector<Chart> charts = trend_charts(series);
  ASSERT_EQ(charts.size(), 3u);
  EXPECT_EQ(charts[0].series.size(), 6u);
  EXPECT_EQ(charts[2].series.size(), 1u);
}

}  // namespace
}  // namespace gpubench
