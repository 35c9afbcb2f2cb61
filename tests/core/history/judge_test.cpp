#include "core/history/judge.h"

#include <gmock/gmock.h>

#include "core/history/maintenance.h"
#include "core/history/night_state.h"
#include "core/history/series_judge.h"
#include "tests/core/history/nights.h"
#include "tests/support/expect_error.h"
#include "tests/support/files.h"

namespace gpubench {
namespace {

using support::near;
using support::Night;
using support::run_of;
using support::runs_with;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class JudgeTest : public TemporaryFolder {
 protected:
  /// Appends a night for each value and judges after each, as nights do. What was reported.
  std::vector<ReportedChange> nights(const std::vector<double>& values, Night night = {}) {
    std::vector<ReportedChange> all;
    for (const auto& run : runs_with(values, night, day_)) {
      history_.append(run);
      for (const ReportedChange& change : judge(history_)) {
        // The rate says the same as the time.
        if (metric_of(change) == "step_time_s") all.push_back(change);
      }
      ++day_;
    }
    return all;
  }
  std::string metric_of(const ReportedChange& change) const {
    for (const HistorySeries& series : history_.series())
      if (series.id == change.series) return series.key.metric;
    return {};
  }
  ReportedChange stored(std::int64_t id) const {
    for (const ReportedChange& change : history_.changes())
      if (change.id == id) return change;
    return {};
  }
  /// The name of the run of a day.
  static std::string run_on(int day) { return run_of({.started = support::date_of(day)}).directory.filename(); }

  RunHistory history_{file("history.db")};
  int day_ = 0;
};

TEST_F(JudgeTest, AChangeIsReportedOnceAndStaysOpen) {
  EXPECT_THAT(nights(near(0.010, 20)), IsEmpty());
  const auto reported = nights(near(0.011, 30));
  ASSERT_THAT(reported, SizeIs(1));
  EXPECT_EQ(reported[0].run, run_on(20));
  EXPECT_EQ(reported[0].state, ChangeState::open);
  EXPECT_NEAR(reported[0].before, 0.010, 1e-4);
  EXPECT_NEAR(reported[0].after, 0.011, 1e-4);
  EXPECT_EQ(reported[0].cause, unknown_cause);
  EXPECT_THAT(judge(history_), IsEmpty());
  EXPECT_EQ(stored(reported[0].id).state, ChangeState::open);
}

TEST_F(JudgeTest, ASpikeIsNoChange) {
  nights(near(0.010, 20));
  EXPECT_THAT(nights({0.020}), IsEmpty());
  EXPECT_THAT(nights(near(0.010, 20)), IsEmpty());
}

TEST_F(JudgeTest, UnreliableNightsDoNotCount) {
  nights(near(0.010, 20));
  EXPECT_THAT(nights(near(0.020, 20), {.quality = "unreliable: busy"}), IsEmpty());
  EXPECT_THAT(nights(near(0.010, 20)), IsEmpty());
}

TEST_F(JudgeTest, ARegressionThatIsTakenBackIsRecovered) {
  nights(near(0.010, 20));
  const auto slower = nights(near(0.011, 20));
  ASSERT_THAT(slower, SizeIs(1));
  const auto faster = nights(near(0.010, 20));
  ASSERT_THAT(faster, SizeIs(1));
  EXPECT_EQ(faster[0].state, ChangeState::better);
  EXPECT_EQ(stored(slower[0].id).state, ChangeState::recovered);
  EXPECT_EQ(stored(slower[0].id).closed, run_on(40));
}

TEST_F(JudgeTest, WhatAPartialRepairLeavesIsARegressionOfItsOwn) {
  nights(near(0.010, 20));
  ASSERT_THAT(nights(near(0.015, 3)), SizeIs(1));
  const auto rest = nights(near(0.011, 3));
  ASSERT_THAT(rest, SizeIs(1));
  EXPECT_EQ(rest[0].state, ChangeState::open);
  EXPECT_NEAR(rest[0].before, 0.010, 1e-4);
  EXPECT_NEAR(rest[0].after, 0.011, 1e-4);
  EXPECT_EQ(stored(1).state, ChangeState::recovered);
  nights(near(0.010, 3));
  for (const ReportedChange& change : history_.changes()) EXPECT_NE(change.state, ChangeState::open);
}

TEST_F(JudgeTest, APartialRepairIsReportedAndJudgingGoesOn) {
  for (const auto& [fault, rest] : {std::pair{0.015, 0.011}, {0.0110, 0.0104}, {0.03, 0.012}}) {
    nights(near(0.010, 20));
    nights(near(fault, 3));
    EXPECT_NO_THROW(nights(near(rest, 20))) << fault;
    EXPECT_NO_THROW(nights(near(0.010, 20)));
  }
}

TEST_F(JudgeTest, ASuiteHasThresholdsOfItsOwn) {
  remember(history_, "a", "night", thresholds_state, "step_time_s=0.12 other_s=0.01");
  nights(near(0.010, 20));
  EXPECT_THAT(nights(near(0.011, 20)), IsEmpty()) << "10 %";
  EXPECT_THAT(nights(near(0.0125, 3)), SizeIs(1));
}

TEST_F(JudgeTest, AFigureWithoutNoiseMayChangeByLittle) {
  nights(std::vector<double>(20, 0.01));
  EXPECT_THAT(nights(std::vector<double>(20, 0.01000001)), IsEmpty());
  EXPECT_THAT(nights(std::vector<double>(20, 0.0101)), SizeIs(1));
}

TEST_F(JudgeTest, AllNightsAtOnceGiveTheSame) {
  for (const auto& run : runs_with(near(0.010, 20))) history_.append(run);
  for (const auto& run : runs_with(near(0.011, 20), {}, 20)) history_.append(run);
  for (const auto& run : runs_with(near(0.010, 20), {}, 40)) history_.append(run);
  const auto all = judge(history_);
  ASSERT_THAT(all, SizeIs(4)) << "time and rate, there and back";
  EXPECT_EQ(history_.changes()[0].state, ChangeState::recovered);
  EXPECT_THAT(judge(history_), IsEmpty());
}

TEST_F(JudgeTest, AChangedCardBeginsANewSeries) {
  nights(near(0.010, 20));
  EXPECT_THAT(nights(near(0.015, 20), {.uuid = "GPU-2"}), IsEmpty());
  EXPECT_THAT(history_.series(), SizeIs(6));
}

TEST_F(JudgeTest, TheCauseIsWhatDiffersAtTheChange) {
  nights(near(0.010, 20));
  const auto reported = nights(near(0.011, 20), {.driver = "590.2"});
  ASSERT_THAT(reported, SizeIs(1));
  EXPECT_EQ(reported[0].cause, "environment (devices.gpu:0.details.driver 580.1 -> 590.2)");
}

TEST_F(JudgeTest, ManyExperimentsThatMoveTogetherPointToTheMachine) {
  for (const char* const experiment : {"one", "two", "three"}) {
    for (const auto& run : runs_with(near(0.010, 20), {.experiment = experiment})) history_.append(run);
    for (const auto& run : runs_with(near(0.011, 20), {.experiment = experiment}, 20)) history_.append(run);
  }
  const auto all = judge(history_);
  ASSERT_THAT(all, SizeIs(6));
  for (const ReportedChange& change : all) EXPECT_EQ(change.cause, machine_cause);
}

TEST_F(JudgeTest, SomebodyResolvesIt) {
  nights(near(0.010, 20));
  const auto reported = nights(near(0.011, 20));
  ASSERT_THAT(reported, SizeIs(1));
  EXPECT_EQ(history_.resolve(reported[0].alarm, "new cooler", "2026-03-01T00:00:00Z"), 2u) << "time and rate";
  EXPECT_EQ(stored(reported[0].id).state, ChangeState::resolved);
  EXPECT_EQ(stored(reported[0].id).note, "new cooler");
  EXPECT_ERROR(HasSubstr("there is no open alarm"), history_.resolve(reported[0].alarm, "", ""));
}

TEST_F(JudgeTest, AnOldChangeIsNoNewsOnceOlderNightsArePruned) {
  // After nights that spread widely the step from night 40 on is none. Without these nights it would be one.
  for (int i = 0; i < 30; ++i) EXPECT_THAT(nights({0.005 + 0.0005 * (i * 7 % 30)}), IsEmpty());
  nights(near(0.010, 10));
  EXPECT_THAT(nights(near(0.011, 50)), IsEmpty());
  ASSERT_GT(prune(history_, 70,
                  std::chrono::sys_days(std::chrono::year(2026) / std::chrono::January / 1) + std::chrono::days(90)),
            0u);
  EXPECT_THAT(judge(history_), IsEmpty());
  EXPECT_THAT(nights(near(0.011, 10)), IsEmpty());
  EXPECT_THAT(nights(near(0.013, 10)), SizeIs(1)) << "later ones are reported as ever";
}

TEST_F(JudgeTest, NightsOfAnOlderFileCountAsJudged) {
  for (const auto& run : runs_with(near(0.010, 20))) history_.append(run);
  for (const auto& run : runs_with(near(0.011, 20), {}, 20)) history_.append(run);
  for (const char* const step :
       {"DROP TABLE missing", "DROP TABLE verdicts", "DROP TABLE news", "DROP TABLE states",
        "DROP INDEX changes_by_alarm", "ALTER TABLE changes DROP COLUMN alarm", "ALTER TABLE changes DROP COLUMN sign",
        "ALTER TABLE runs DROP COLUMN night", "ALTER TABLE runs DROP COLUMN machine",
        "ALTER TABLE series DROP COLUMN judged", "PRAGMA user_version = 1"})
    history_.database().execute(step);
  RunHistory again(file("history.db"));
  EXPECT_THAT(judge(again), IsEmpty());
  for (const auto& run : runs_with(near(0.013, 10), {}, 40)) again.append(run);
  EXPECT_THAT(judge(again), SizeIs(2));
}

TEST(ChangeText, SaysTheDirectionInWords) {
  HistorySeries time{.column = column_of("step_time_s")}, rate{.column = column_of("examples_per_s")},
      memory{.column = column_of("peak_memory_bytes")};
  EXPECT_EQ(change_text(time, 1, 1.041), "takes 4.1 % more time");
  EXPECT_EQ(change_text(time, 1, 0.9), "takes 10.0 % less time");
  EXPECT_EQ(change_text(rate, 100, 90), "takes 11.1 % more time");
  EXPECT_EQ(change_text(memory, 100, 110), "10.0 % higher (worse)");
  EXPECT_EQ(change_text(memory, 0, 110), "higher (worse)");
}

std::string cause(const char* before, const char* after) {
  return cause_between(before, after);
}

TEST(Cause, IsClassifiedByWhatDiffers) {
  EXPECT_EQ(cause(R"({"program.commit":"a"})", R"({"program.commit":"b"})"), "code (program.commit a -> b)");
  EXPECT_EQ(cause(R"({"devices.gpu:0.details.driver":"1"})", R"({"devices.gpu:0.details.driver":"2"})"),
            "environment (devices.gpu:0.details.driver 1 -> 2)");
  EXPECT_EQ(cause(R"({"script.lua":"1"})", R"({"script.lua":"2","options.quick":"true"})"),
            "method (options.quick none -> true, the script was edited)");
  EXPECT_EQ(cause(R"({"machine.kernel":"1","program.commit":"a"})", R"({"program.commit":"b"})"),
            "code (program.commit a -> b); environment (machine.kernel 1 -> none)");
  EXPECT_EQ(cause(R"({"machine.kernel":"1"})", R"({"machine.kernel":"1"})"), "");
}

}  // namespace
}  // namespace gpubench
