#include "core/compare/comparison.h"

#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>

#include "tests/core/compare/sides.h"
#include "tests/support/expect_error.h"

namespace gpubench {
namespace {

using ::testing::HasSubstr;

Comparison compared(const Side& before, const Side& after, const ComparisonOptions& options = {}) {
  const std::vector<Side> sides{before, after};
  return compare_sides(sides, options);
}

const Change& only_change(const Comparison& comparison) {
  EXPECT_EQ(comparison.rows.size(), 1u);
  EXPECT_EQ(comparison.rows.at(0).changes.size(), 1u);
  return comparison.rows.at(0).changes.at(0);
}

Side times(const std::string& name, double middle) {
  return side_with(name, "step_time_s", seven_around(middle));
}

/// With a second row of batch_size 64.
Side two_rows(const std::string& name, const std::string& status_of_first) {
  Side side = times(name, 1);
  for (MeasuringProcess& process : side.processes) {
    process.records.push_back(process.records[0]);
    process.records[1].set("batch_size", std::int64_t{64});
    process.records[0].set("status", status_of_first);
    process.records[0].set("detail", std::string("gpu:0 is full"));
  }
  return side;
}

Side with_second_figure(double middle, const std::string& column, double value) {
  Side side{.name = column + std::to_string(value), .processes = {}};
  for (const double time : seven_around(middle))
    side.processes.push_back(
        process_with(side.name + std::to_string(side.processes.size()), {{"step_time_s", time}, {column, value}}));
  return side;
}

TEST(Comparison, SlowerFailsAndFasterDoesNot) {
  const Comparison slower = compared(times("a", 1), times("b", 1.05));
  EXPECT_EQ(only_change(slower).verdict, ChangeVerdict::worse);
  EXPECT_EQ(exit_status_of(slower, false), 1);
  EXPECT_EQ(slower.tested(), 1u);
  EXPECT_NEAR(slower.expected_false_alarms(), 4.0 / 3432, 1e-9);
  EXPECT_EQ(slower.causes.at(1), "noise or the state of the machine: no fingerprint differs");
  EXPECT_EQ(exit_status_of(compared(times("a", 1.05), times("b", 1)), true), 0);
}

/// Seven processes with these figures of a column, better lower, beside equal times.
Side losses(const std::string& name, const std::vector<double>& figures) {
  Side side{.name = name, .processes = {}};
  for (const double figure : figures) {
    side.processes.push_back(process_with(name + std::to_string(side.processes.size()), {{"loss", figure}}));
  }
  return side;
}

TEST(Comparison, AFigureThatIsNoNumberAnyMoreFails) {
  const std::vector<double> good(9, 0.5);
  for (const double lost : {std::nan(""), std::numeric_limits<double>::infinity()}) {
    std::vector<double> some = good, all(9, lost);
    some[3] = some[7] = lost;
    const Comparison partly = compared(losses("a", good), losses("b", some));
    EXPECT_EQ(only_change(partly).verdict, ChangeVerdict::worse);
    EXPECT_EQ(text_of_change(only_change(partly)), "NaN or infinite in 2 of 9 processes");
    EXPECT_EQ(exit_status_of(partly, false), 1);
    const Comparison wholly = compared(losses("a", good), losses("b", all));
    EXPECT_EQ(only_change(wholly).verdict, ChangeVerdict::vanished);
    EXPECT_EQ(only_change(wholly).reason, "loss is NaN or infinite in 9 of 9 processes");
    EXPECT_EQ(exit_status_of(wholly, false), 1);
    // What the baseline has too is no news.
    EXPECT_EQ(exit_status_of(compared(losses("a", some), losses("b", some)), false), 0);
  }
}

TEST(Comparison, StepTimeAndRateOfTheSameStepsCountOnce) {
  const auto side = [](const std::string& name, double middle) {
    Side made{.name = name, .processes = {}};
    for (const double time : seven_around(middle)) {
      made.processes.push_back(
          process_with(name + std::to_string(made.processes.size()),
                       {{"step_time_s", time}, {"examples_per_s", 1 / time}, {"peak_memory_bytes", 3.0}}));
    }
    return made;
  };
  const Comparison slower = compared(side("a", 1), side("b", 1.25));
  ASSERT_EQ(slower.rows.at(0).changes.size(), 3u);
  EXPECT_EQ(slower.counted(), 2u);
  EXPECT_EQ(slower.count(ChangeVerdict::worse), 1u);
  EXPECT_EQ(slower.count(ChangeVerdict::same), 1u) << "of the memory";
  for (const Change& change : slower.rows[0].changes) {
    if (change.column.name == "peak_memory_bytes") continue;
    EXPECT_EQ(text_of_change(change), "takes 25.0 % more time") << change.column.name;
    EXPECT_THAT(interval_text(change), testing::StartsWith("[+2")) << "the sign of the word";
  }
  Comparison rate_only = slower;
  rate_only.rows[0].changes[0].verdict = ChangeVerdict::same;
  EXPECT_EQ(rate_only.count(ChangeVerdict::worse), 1u) << "the gravest verdict counts";
}

TEST(Comparison, TooFewProcessesAreNothingToJudge) {
  const Comparison few = compared(side_with("a", "step_time_s", {1}), side_with("b", "step_time_s", {2}));
  EXPECT_EQ(only_change(few).verdict, ChangeVerdict::ambiguous);
  EXPECT_TRUE(few.has_too_few_processes());
  EXPECT_EQ(exit_status_of(few, false), 3);
}

TEST(Comparison, AmbiguousFailsWithStrictOnly) {
  const std::vector<double> wide{1, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6};
  const Comparison open = compared(side_with("a", "step_time_s", wide), side_with("b", "step_time_s", wide));
  EXPECT_EQ(only_change(open).verdict, ChangeVerdict::ambiguous);
  EXPECT_EQ(exit_status_of(open, false), 0);
  EXPECT_EQ(exit_status_of(open, true), 3);
}

TEST(Comparison, ARowThatIsMissingOrFailedHasVanished) {
  const Comparison failed = compared(two_rows("a", "ok"), two_rows("b", "out_of_memory"));
  ASSERT_EQ(failed.rows.size(), 2u);
  EXPECT_EQ(failed.rows[0].changes.at(0).verdict, ChangeVerdict::vanished);
  EXPECT_EQ(failed.rows[0].changes.at(0).reason, "out_of_memory: gpu:0 is full");
  EXPECT_EQ(failed.rows[1].changes.at(0).verdict, ChangeVerdict::same);
  EXPECT_EQ(exit_status_of(failed, false), 1);
  const Comparison missing = compared(two_rows("a", "ok"), times("b", 1));
  EXPECT_EQ(missing.rows.at(1).changes.at(0).reason, "it is not there");
  EXPECT_EQ(compared(times("a", 1), two_rows("b", "ok")).new_rows.at(1), 1u);
}

TEST(Comparison, NothingInCommonIsNothingToJudge) {
  Side other = times("b", 1);
  for (MeasuringProcess& process : other.processes) process.records[0].set("batch_size", std::int64_t{64});
  const Comparison comparison = compared(times("a", 1), other);
  EXPECT_EQ(comparison.common_rows, 0u);
  EXPECT_EQ(exit_status_of(comparison, false), 3);
}

TEST(Comparison, UnitsThatDifferAreInvalid) {
  Side other = times("b", 1);
  for (MeasuringProcess& process : other.processes) process.columns[1].unit = Unit::bytes;
  const Comparison comparison = compared(times("a", 1), other);
  EXPECT_EQ(only_change(comparison).verdict, ChangeVerdict::invalid);
  EXPECT_EQ(only_change(comparison).reason,
            "the columns differ: s, better lower (time) and bytes, better lower (time)");
  EXPECT_EQ(exit_status_of(comparison, false), 3) << "all rows are invalid";
}

TEST(Comparison, FiguresWithoutARatioAreInvalid) {
  for (const double extreme : {1e308, -1e101, 1e-320}) {
    std::vector<double> values(7, 1.5);
    values[3] = extreme;
    for (const bool before : {true, false}) {
      const Side plain = side_with("plain", "time_s", seven_around(1)), odd = side_with("odd", "time_s", values);
      const Comparison compared = compare_sides(std::vector{before ? odd : plain, before ? plain : odd});
      const Change& change = compared.rows.at(0).changes.at(0);
      EXPECT_EQ(change.verdict, ChangeVerdict::invalid);
      EXPECT_THAT(change.reason, HasSubstr("figures beyond 1e100, or nearer to 0 than 1e-100"));
    }
  }
}

TEST(Comparison, RefusesMoreFiguresThanItCanResample) {
  const std::vector<double> values(63'000, 1.5);
  const auto sides = [&](const std::string& a, const std::string& b) {
    std::vector<Side> both{side_with(a, "time_s", values), side_with(b, "time_s", values)};
    for (Side& side : both)
      for (MeasuringProcess& process : side.processes) {
        process.columns.push_back(column_of("other_s"));
        process.records.front().set("other_s", 1.5);
      }
    return both;
  };
  EXPECT_ERROR(HasSubstr("more than 200000 figures of rows that several processes have measured"),
               compare_sides(sides("a", "b")));
}

TEST(Comparison, RowsOfOtherWorkAreInvalid) {
  const Comparison comparison = compared(with_second_figure(1, "flops_per_step", 100),
                                         with_second_figure(1.2, "flops_per_step", 120), {.figures = {"step_time_s"}});
  EXPECT_EQ(only_change(comparison).verdict, ChangeVerdict::invalid);
  EXPECT_EQ(only_change(comparison).reason, "the work differs: flops_per_step is 100 and 120");
}

Side of_commit(Side side, const std::string& commit) {
  for (MeasuringProcess& process : side.processes) process.info.set("program", Info::Fields{{"commit", commit}});
  return side;
}

// A build that was measured at a lower clock says nothing of the code; a machine whose clock fell is slower.
TEST(Comparison, AClockThatExplainsTheChangeIsACauseExceptBetweenBuilds) {
  const ComparisonOptions times_only{.figures = {"step_time_s"}};
  const Side fast = with_second_figure(1, "sm_clock_hz", 2e9), slow = with_second_figure(1.2, "sm_clock_hz", 1.6e9);
  const Comparison throttled = compared(fast, slow, times_only);
  EXPECT_EQ(only_change(throttled).verdict, ChangeVerdict::worse);
  EXPECT_THAT(only_change(throttled).reason, HasSubstr("the clock explains it: sm_clock_hz is 2e+09 and 1.6e+09"));
  EXPECT_EQ(exit_status_of(throttled, false), 1);
  const Comparison builds = compared(of_commit(fast, "a"), of_commit(slow, "b"), times_only);
  EXPECT_EQ(only_change(builds).verdict, ChangeVerdict::invalid);
  EXPECT_EQ(exit_status_of(builds, false), 3) << "never 0";
  const Comparison slower = compared(fast, with_second_figure(1.2, "sm_clock_hz", 1.9e9), times_only);
  EXPECT_EQ(only_change(slower).verdict, ChangeVerdict::worse) << "slower in cycles too";
}

TEST(Comparison, DoubtfulRowsCannotBeSlower) {
  Side doubtful = times("b", 1.2);
  for (std::size_t i = 0; i < 4; ++i) {
    doubtful.processes[i].columns.push_back(column_of("quality"));
    doubtful.processes[i].records[0].set("quality", std::string("unreliable: the device was shared"));
  }
  const Comparison comparison = compared(times("a", 1), doubtful);
  EXPECT_EQ(only_change(comparison).verdict, ChangeVerdict::invalid);
  EXPECT_EQ(only_change(comparison).reason, "4 of 7 processes unreliable: the device was shared");
  EXPECT_EQ(only_change(compared(doubtful, times("c", 2))).verdict, ChangeVerdict::worse) << "slower all the same";
}

TEST(Comparison, DoubtThatSidesShareInTurnIsPartOfTheirScatter) {
  const auto disturbed = [](const std::string& name, double middle, int first, int step) {
    Side side = times(name, middle);
    for (std::size_t i = 0; i < side.processes.size(); ++i) {
      side.processes[i].columns.push_back(column_of("quality"));
      side.processes[i].records[0].set("quality", std::string("unreliable: other programs ran"));
      const std::string minute = std::to_string(first + step * static_cast<int>(i));
      side.processes[i].info.set("started", "2026-11-24T08:" + minute + ":00Z");
    }
    return side;
  };
  const Comparison in_turn = compared(disturbed("a", 1, 10, 2), disturbed("b", 1.2, 11, 2));
  EXPECT_EQ(only_change(in_turn).verdict, ChangeVerdict::worse);
  const Comparison one_after_the_other = compared(disturbed("a", 1, 10, 1), disturbed("b", 1.2, 20, 1));
  EXPECT_EQ(only_change(one_after_the_other).verdict, ChangeVerdict::invalid);
}

TEST(Comparison, ClaimsAndChartsSayWhatIsCompared) {
  Side before = with_second_figure(1, "loss", 2);
  const Side after = with_second_figure(1, "loss", 3);
  EXPECT_EQ(compared(before, after).rows.at(0).changes.size(), 2u) << "all, if none is named";
  for (MeasuringProcess& process : before.processes) process.info.set("figures", Info::List{"loss"});
  EXPECT_EQ(only_change(compared(before, after)).column.name, "loss");
  EXPECT_ERROR(HasSubstr("unknown figure 'step_tim_s' (did you mean 'step_time_s'?)"),
               compared(before, after, {.figures = {"step_tim_s"}}));
}

TEST(Comparison, AThresholdOfTheColumnStandsBeforeThatOfTheComparison) {
  Side before = times("a", 1);
  const Side after = times("b", 1.02);
  EXPECT_EQ(only_change(compared(before, after)).verdict, ChangeVerdict::worse);
  EXPECT_EQ(only_change(compared(before, after, {.threshold = 0.05})).verdict, ChangeVerdict::same);
  for (MeasuringProcess& process : before.processes)
    for (Column& column : process.columns) column.threshold = 0.05;
  EXPECT_EQ(only_change(compared(before, after, {.threshold = 0.001})).verdict, ChangeVerdict::same);
}

TEST(Comparison, MeansAreOverCommonRows) {
  const Comparison comparison = compared(times("a", 1), times("b", 1.05));
  ASSERT_EQ(comparison.means.size(), 1u);
  EXPECT_NEAR(comparison.means[0].log_ratio.value, std::log(1.05), 1e-9);
  EXPECT_EQ(comparison.means[0].rows, 1u);
}

TEST(Comparison, OnlyWhatIsWorseAgainIsConfirmed) {
  Comparison comparison = compared(times("a", 1), times("b", 1.05));
  confirm(comparison, compared(times("c", 1), times("d", 1.06)));
  EXPECT_EQ(only_change(comparison).verdict, ChangeVerdict::worse);
  confirm(comparison, compared(times("c", 1), times("d", 1.001)));
  EXPECT_EQ(only_change(comparison).verdict, ChangeVerdict::ambiguous);
  EXPECT_THAT(only_change(comparison).reason, HasSubstr("looked SLOWER, takes 5.0 % more time; measured again: SAME"));
}

TEST(Comparison, WhatCannotBeMeasuredAgainStaysAnAlarm) {
  Comparison gone = compared(times("a", 1), times("b", 1.05));
  Side failed = times("d", 1);
  for (MeasuringProcess& process : failed.processes) {
    process.records[0].set("status", std::string("error"));
    process.records[0].set("detail", std::string("boom"));
  }
  confirm(gone, compared(times("c", 1), failed));
  EXPECT_EQ(only_change(gone).verdict, ChangeVerdict::vanished);
  EXPECT_EQ(only_change(gone).reason, "looked SLOWER, takes 5.0 % more time; measured again: error: boom");
  Comparison left_out = compared(times("a", 1), times("b", 1.05));
  confirm(left_out, Comparison());
  EXPECT_EQ(only_change(left_out).verdict, ChangeVerdict::worse);
  EXPECT_EQ(only_change(left_out).reason, "looked SLOWER, takes 5.0 % more time; it was not measured again");
}

TEST(Comparison, ARowThatFailsInSomeNewProcessesIsLoud) {
  const auto with_failures = [](const std::string& name, std::size_t count) {
    Side side = times(name, 1);
    for (std::size_t i = 0; i < count; ++i) {
      side.processes[i].records[0].set("status", std::string("error"));
      side.processes[i].records[0].set("detail", std::string("boom"));
    }
    return side;
  };
  const Comparison new_failures = compared(times("a", 1), with_failures("b", 2));
  EXPECT_EQ(only_change(new_failures).verdict, ChangeVerdict::vanished);
  EXPECT_EQ(only_change(new_failures).reason, "it failed in 2 of 7 processes: error: boom");
  EXPECT_EQ(exit_status_of(new_failures, false), 1);
  EXPECT_NE(only_change(compared(with_failures("a", 1), with_failures("b", 2))).verdict, ChangeVerdict::vanished)
      << "the baseline fails by chance too";
}

TEST(Comparison, AProcessIsOnOneSideOnly) {
  EXPECT_ERROR(HasSubstr("can be on one side only"), compared(times("a", 1), times("a", 1)));
  const std::vector<Side> one{times("a", 1)};
  EXPECT_ERROR(HasSubstr("at least two sides"), compare_sides(one));
}

TEST(Comparison, PointsWithSeveralRowsAreMatchedByTheirOrder) {
  const auto with_two = [](const std::string& name, double second) {
    Side side = times(name, 1);
    for (MeasuringProcess& process : side.processes) {
      process.records[0].set("point", std::int64_t{1});
      process.records.push_back(process.records[0]);
      process.records[1].set("step_time_s", second);
    }
    return side;
  };
  const Comparison comparison = compared(with_two("a", 5), with_two("b", 6));
  ASSERT_EQ(comparison.rows.size(), 2u);
  EXPECT_EQ(comparison.rows[1].key.text(), "batch_size=32 row 2");
  EXPECT_EQ(comparison.rows[1].changes.at(0).verdict, ChangeVerdict::worse);
}

}  // namespace
}  // namespace gpubench
