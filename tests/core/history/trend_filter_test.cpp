#include "core/history/trend_filter.h"

#include <gmock/gmock.h>

#include "core/history/judge.h"
#include "core/history/maintenance.h"
#include "core/history/trend.h"
#include "tests/core/history/nights.h"
#include "tests/support/files.h"

namespace gpubench {
namespace {

using support::near;
using support::runs_with;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::ThrowsMessage;

class TrendFilterTest : public TemporaryFolder {
 protected:
  /// Machine a becomes slower, machine b does not.
  void SetUp() override {
    history_.emplace(file("history.db"));
    std::vector<double> slower = near(0.010, 20);
    for (const double value : near(0.015, 10)) slower.push_back(value);
    for (const auto& run : runs_with(slower)) history_->append(run);
    for (const auto& run : runs_with(near(0.010, 30), {.host = "b"})) history_->append(run);
    judge(*history_);
  }
  Trend trend_with(const TrendFilter& filter) const {
    const FilteredSeries filtered(*history_, "matmul", filter);
    return trend(*history_, "matmul", [&](const HistorySeries& series) { return filtered.takes(series); });
  }
  std::string csv_with(const TrendFilter& filter) const {
    const FilteredSeries filtered(*history_, "matmul", filter);
    std::string text;
    export_csv(
        *history_, "matmul", [&](std::string_view part) { text += part; },
        [&](const HistorySeries& series) { return filtered.takes(series); });
    return text;
  }

  std::optional<RunHistory> history_;
};

TEST_F(TrendFilterTest, TakesSeriesByHostFigureAndState) {
  const std::size_t all = trend_with({}).size();
  EXPECT_EQ(trend_with({.host = "b"}).size(), all / 2);
  const Trend figure = trend_with({.host = "a", .figure = "step_time_s"});
  ASSERT_THAT(figure, SizeIs(1));
  EXPECT_EQ(figure[0].series.key.metric, "step_time_s");
  const Trend open = trend_with({.state = "open"});
  EXPECT_THAT(open, SizeIs(2)) << "time and rate";
  for (const SeriesTrend& one : open) EXPECT_EQ(one.series.key.host, "a");
  EXPECT_THAT(trend_with({.host = "b", .state = "open"}), IsEmpty());
}

TEST_F(TrendFilterTest, TakesTheSameValuesAndChanges) {
  EXPECT_THAT(csv_with({.host = "b"}), AllOf(HasSubstr("\nb,"), Not(HasSubstr("\na,"))));
  EXPECT_THAT(csv_with({.state = "open"}), AllOf(HasSubstr("\na,"), Not(HasSubstr("\nb,"))));
  const FilteredSeries filtered(*history_, "", {.figure = "step_time_s", .state = "open"});
  EXPECT_EQ(std::ranges::count_if(history_->changes(), [&](const auto& change) { return filtered.takes(change); }), 1);
}

TEST_F(TrendFilterTest, NamesThatAreNotThereAreErrors) {
  const auto with = [&](const TrendFilter& filter) { return [this, filter] { trend_with(filter); }; };
  EXPECT_THAT(with({.host = "c"}), ThrowsMessage<Error>(HasSubstr("history: no host 'c' (known: a, b)")));
  EXPECT_THAT(with({.figure = "step_time"}), ThrowsMessage<Error>(HasSubstr("did you mean 'step_time_s'?")));
  EXPECT_THAT(with({.state = "shut"}), ThrowsMessage<Error>(AllOf(HasSubstr("no state 'shut'"), HasSubstr("open"))));
}

}  // namespace
}  // namespace gpubench
