#include "core/history/trend.h"

#include <gmock/gmock.h>

#include "core/history/judge.h"
#include "tests/core/history/nights.h"
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
  const Info all = trend(history_, "matmul");
  ASSERT_EQ(all.list()->size(), 3u);
  const Info& series = all.list()->at(1);
  EXPECT_EQ(series.text("metric"), "step_time_s");
  EXPECT_EQ(series.text("unit"), "s");
  EXPECT_EQ(series.find("points")->list()->size(), 40u);
  EXPECT_EQ(series.find("points")->list()->at(10).text("value"), "0.05");
  EXPECT_EQ(series.texts("outliers"), std::vector<std::string>{"20260111T020000Z-a"});
  const Info::List& changes = *series.find("changes")->list();
  ASSERT_EQ(changes.size(), 1u);
  EXPECT_EQ(changes[0].text("change"), "takes 9.9 % more time");
  EXPECT_EQ(changes[0].text("state"), "open");
  EXPECT_EQ(changes[0].text("run"), "20260121T020000Z-a");
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
  EXPECT_EQ(trend(history_, "matmul").list()->size(), 6u);
  const Info changed = trend(history_, "matmul", &run.info);
  ASSERT_EQ(changed.list()->size(), 3u);
  EXPECT_THAT(changed.list()->at(0).text("axes"), HasSubstr("base=3"));
  run.info.set("changed_params", Info::List{});
  const Info defaults = trend(history_, "matmul", &run.info);
  ASSERT_EQ(defaults.list()->size(), 3u);
  EXPECT_EQ(defaults.list()->at(0).text("axes").find("base="), std::string::npos);
}

TEST_F(TrendTest, AnUnknownExperimentListsTheOthers) {
  EXPECT_THAT([&] { trend(history_, "matmull"); },
              testing::ThrowsMessage<Error>(testing::AllOf(HasSubstr("no experiment 'matmull'"), HasSubstr("matmul"))));
}

}  // namespace
}  // namespace gpubench
