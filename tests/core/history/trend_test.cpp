#include "core/history/trend.h"

#include <gmock/gmock.h>

#include "core/history/judge.h"
#include "tests/core/history/nights.h"
#include "tests/support/expect_error.h"
#include "tests/support/files.h"

namespace gpubench {
namespace {

using support::near;
using support::runs_with;
using ::testing::HasSubstr;

class TrendTest : public TemporaryFolder {
 protected:
  TrendTest() {
    std::vector<double> values = near(0.010, 20), slower = near(0.011, 20);
    values[10] = 0.05;
    values.insert(values.end(), slower.begin(), slower.end());
    for (const auto& run : runs_with(values)) history_.append(run);
    reported_ = judge(history_);
  }
  RunHistory history_{file("history.db")};
  std::vector<ReportedChange> reported_;
};

TEST_F(TrendTest, HasPointsChangesAndOutliers) {
  const Trend all = trend(history_, "matmul");
  ASSERT_EQ(all.size(), 3u);
  const auto& [series, points, changes, outliers] = all[1];
  EXPECT_EQ(series.key.metric, "step_time_s");
  ASSERT_EQ(points.size(), 40u);
  EXPECT_EQ(points[10].value, 0.05);
  EXPECT_EQ(outliers, std::vector<std::string>{"20260111T020000Z-a"});
  ASSERT_EQ(changes.size(), 1u);
  EXPECT_EQ(changes[0].state, ChangeState::open);
  EXPECT_EQ(changes[0].run, "20260121T020000Z-a");
}

TEST_F(TrendTest, IsDescribedWithItsPointsAndChanges) {
  const Info all = described_trend(trend(history_, "matmul"));
  const Info& series = all.list()->at(1);
  EXPECT_EQ(series.text("metric"), "step_time_s");
  EXPECT_EQ(series.text("unit"), "s");
  EXPECT_EQ(series.items("points").at(10).text("value"), "0.05");
  EXPECT_EQ(series.texts("outliers"), std::vector<std::string>{"20260111T020000Z-a"});
  EXPECT_EQ(series.items("changes").at(0).text("change"), "takes 9.9 % more time");
  EXPECT_EQ(series.items("changes").at(0).text("state"), "open");
}

TEST_F(TrendTest, ChangesNameTheirSeries) {
  const Info all = with_series(history_, reported_);
  ASSERT_EQ(all.list()->size(), 2u);
  EXPECT_EQ(all.list()->at(0).text("experiment"), "matmul");
  EXPECT_EQ(all.list()->at(0).text("slot"), "gpu:0");
}

TEST_F(TrendTest, AFigureThatIsNoLongerThereHasVanished) {
  auto run = support::run_of({.started = support::date_of(90)});
  const std::string name = "matmul/" + run.directory.filename().string();
  run.records[0].set("flops_per_s", {});
  history_.append(run);
  const Info gone = described_missing(find_missing(history_, {name}, "night", "a"));
  ASSERT_EQ(gone.list()->size(), 1u);
  EXPECT_EQ(gone.list()->at(0).text("metric"), "flops_per_s");
  ASSERT_EQ(latest(history_, {name}).list()->size(), 1u);
  EXPECT_EQ(latest(history_, {name}).list()->at(0).text("metric"), "step_time_s");
}

TEST_F(TrendTest, LikeARunItHasOnlySeriesWithItsParameters) {
  auto run = support::run_of({.started = support::date_of(90)});
  run.info.set("params", Info(Info::Fields{{"base", std::int64_t{3}}}));
  run.info.set("changed_params", Info::List{"base"});
  history_.append(run);
  const auto like_run = [&](const HistorySeries& series) { return has_params_of(series.key, run.info); };
  EXPECT_EQ(trend(history_, "matmul").size(), 6u);
  const Trend changed = trend(history_, "matmul", like_run);
  ASSERT_EQ(changed.size(), 3u);
  EXPECT_THAT(changed[0].series.key.axes, HasSubstr("base=3"));
  run.info.set("changed_params", Info::List{});
  const Trend defaults = trend(history_, "matmul", like_run);
  ASSERT_EQ(defaults.size(), 3u);
  EXPECT_EQ(defaults[0].series.key.axes.find("base="), std::string::npos);
}

TEST_F(TrendTest, AnUnknownExperimentListsTheOthers) {
  EXPECT_ERROR(testing::AllOf(HasSubstr("no experiment 'matmull'"), HasSubstr("matmul")), trend(history_, "matmull"));
}

}  // namespace
}  // namespace gpubench
