// What a night reports: changes of figures, figures and devices that are gone, claims; once, until it is resolved.
#include <algorithm>
#include <gmock/gmock.h>

#include "core/results/info.h"
#include "tests/lua/host/nights.h"

namespace gpubench {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class NightAlarms : public Nights {};

TEST_F(NightAlarms, AnAlarmComesOnceAndStaysOpenUntilItIsResolved) {
  const Ended first = nights_at(0.010, 12);
  EXPECT_EQ(first.status, 0) << first.out;
  EXPECT_THAT(first.out, AllOf(HasSubstr("night on "), HasSubstr(": no new alarm\n"),
                               HasSubstr("measured: 1 of 1 script run on cpu:0")));
  level(0.015);
  const Ended alarm = nightly({"--on-alarm", "cat >> told"});
  ASSERT_EQ(alarm.status, 1) << alarm.out;
  const std::string told = read("told");
  EXPECT_EQ(told, alarm.out.substr(alarm.out.find("night on "))) << "what the user's command gets";
  EXPECT_EQ(std::ranges::count(told, '\n'), 5) << "once";
  const std::string id = id_in(alarm.out);
  EXPECT_THAT(alarm.out,
              AllOf(HasSubstr(": 1 new alarm\n"), HasSubstr("new: #" + id + " steady figure_s of n=1 on cpu:0 of "),
                    HasSubstr("takes 50.0 % more time"), HasSubstr("measured again the same night")));
  EXPECT_EQ(read("results/nightly-night.txt"), alarm.out.substr(alarm.out.find("night on "))) << "the same five lines";
  EXPECT_THAT(read("results/nightly-night.prom"),
              AllOf(HasSubstr("gpubench_new_alarms{suite=\"night\""), HasSubstr("metric=\"figure_s\",unit=\"s\"} 0.01"),
                    testing::EndsWith("# EOF\n")));
  const Ended after = nightly();
  EXPECT_EQ(after.status, 0) << "it was told";
  EXPECT_THAT(after.out, AllOf(HasSubstr(": no new alarm, 1 open\n"), HasSubstr("still open: #" + id + ";")));
  EXPECT_THAT(history().out,
              AllOf(HasSubstr("steady  1 open change"), HasSubstr("#" + id + " steady figure_s of n=1 on cpu:0")));
  EXPECT_THAT(history({"steady"}).out, AllOf(HasSubstr("figure_s  15 ms now"),
                                             HasSubstr("takes 50.0 % more time: 10 ms -> 15 ms  #" + id + " open")));
  const Ended resolved = history({"--resolve", "#" + id, "--note", "new code"});
  EXPECT_EQ(resolved.status, 0) << resolved.err;
  EXPECT_THAT(history({"steady"}).out, HasSubstr("(new code)"));
  EXPECT_THAT(nightly().out, HasSubstr("still open: none;"));
  EXPECT_EQ(history({"--resolve", id}).status, 2);
}

TEST_F(NightAlarms, ARepairIsToldTheSameNight) {
  nights_at(0.010, 12);
  level(0.020);
  const Ended alarm = nightly();
  ASSERT_EQ(alarm.status, 1) << alarm.out;
  level(0.010002);
  const Ended repaired = nightly();
  EXPECT_EQ(repaired.status, 0);
  EXPECT_THAT(repaired.out, AllOf(HasSubstr("still open: none; recovered: #" + id_in(alarm.out) + ": steady"),
                                  HasSubstr(": no new alarm\n")));
}

TEST_F(NightAlarms, WhatIsNotSeenAgainIsNoAlarm) {
  // Slow in its first process of a night only.
  write("steady.lua", R"(local gb = require "gpubench"
    gb.experiment { name = "steady", title = "t", axes = { gb.axis("n", { 1, 2 }) },
      columns = { gb.column("figure_s", { unit = "s", better = "lower", kind = "counted" }) },
      run = function(point)
        local again = table.concat(gb._native.options.tags, " "):find "again=" ~= nil
        local file <close> = assert(io.open "level")
        return { figure_s = again and 0.01 * point.n or file:read "n" * point.n }
      end,
      charts = { gb.chart.bar { x = "n", y = "figure_s" } } })");
  nights_at(0.010, 12);
  level(0.020);
  const Ended spike = nightly();
  EXPECT_EQ(spike.status, 0) << spike.out;
  EXPECT_THAT(spike.out, HasSubstr("measuring again what is far from its level"));
  const std::string before = history({"steady", "--format", "csv"}).out;
  EXPECT_EQ(history({"--rebuild"}).status, 0);
  EXPECT_EQ(history({"steady", "--format", "csv"}).out, before) << "runs that measured again are in no history";
  EXPECT_EQ(nightly().status, 0) << "two nights are none";
  EXPECT_EQ(nightly().status, 1) << "three of nine are";
}

TEST_F(NightAlarms, WhatNobodyWasToldIsToldAgain) {
  nights_at(0.010, 12);
  level(0.020);
  const Ended untold = nightly({"--on-alarm", "cat > told; exit 3"});
  EXPECT_EQ(untold.status, 1);
  EXPECT_THAT(untold.err, HasSubstr("the next night tells these alarms again"));
  const Ended again = nightly({"--on-alarm", "cat > told"});
  EXPECT_EQ(again.status, 1);
  const std::string id = id_in(untold.out);
  EXPECT_THAT(again.out, HasSubstr("new: #" + id + " again (found by the night 20"));
  EXPECT_EQ(nightly({"--on-alarm", "cat > told"}).status, 0);
}

TEST_F(NightAlarms, RebuildingAndMergingTellNothingAway) {
  nights_at(0.010, 12);
  level(0.020);
  std::filesystem::remove(file("results/nightly-night.txt"));
  std::filesystem::create_directory(file("results/nightly-night.txt"));  // no summary can be written
  const Ended untold = nightly();
  EXPECT_EQ(untold.status, 2);
  std::filesystem::remove(file("results/nightly-night.txt"));
  EXPECT_THAT(history({"--rebuild"}).out, HasSubstr("not told yet: regression #" + id_in(untold.out)));
  const Ended merged = run_program({"history", "--out", "elsewhere", "--merge", "results/history.db"}, path());
  EXPECT_THAT(merged.out, HasSubstr("not told yet: regression #" + id_in(untold.out)));
  const Ended told = nightly();
  EXPECT_EQ(told.status, 1);
  EXPECT_THAT(told.out, HasSubstr("#" + id_in(untold.out) + " again"));
}

TEST_F(NightAlarms, AnEditedSuiteIsSaidAndNoAlarm) {
  level(1);
  write("steady.lua", R"(local gb = require "gpubench"
    gb.experiment { name = "steady", title = "t", axes = { gb.axis("n", { 1, 2 }) },
      columns = { gb.column("figure_s", { unit = "s", better = "lower", kind = "counted" }) },
      run = function() return { figure_s = 1 } end, charts = { gb.chart.bar { x = "n", y = "figure_s" } } })");
  EXPECT_EQ(nightly().status, 0);
  write("night.lua", R"(return { minutes = 5, scripts = { { "steady", set = { n = 1 } } } })");
  const Ended edited = nightly();
  EXPECT_EQ(edited.status, 0) << edited.out;
  EXPECT_THAT(edited.out,
              AllOf(HasSubstr("the suite was edited since the last night"),
                    HasSubstr("figure_s of n=2 on cpu:0: it was measured the night before; the suite was")));
  EXPECT_THAT(nightly().out, HasSubstr("not measured: none\n"));
}

TEST_F(NightAlarms, ADeviceThatTheSuiteNamesAndThatIsAbsentIsAnAlarm) {
  level(1);
  write("night.lua", R"(return { minutes = 5, devices = { "cpu", "gpu" }, scripts = { "steady" } })");
  const Ended absent = nightly();
  EXPECT_EQ(absent.status, 1) << absent.out;
  EXPECT_THAT(absent.out, HasSubstr("gpu: there is no such device; the suite names it"));
  const Ended later = nightly();
  EXPECT_EQ(later.status, 0) << "it was told";
  EXPECT_THAT(later.out, HasSubstr("not measured: gpu: there is no such device, since 20"));
}

TEST_F(NightAlarms, AFigureThatVanishesIsAsLoudAsARegression) {
  level(1);
  write("two.lua", R"(local gb = require "gpubench"
    gb.experiment { name = "two", title = "t", axes = { gb.axis("n", { 1, 2 }) },
      columns = { gb.column("figure_s", { unit = "s", better = "lower", kind = "counted" }) },
      run = function(point) return point.n == 2 and io.open "gone" and { status = "skipped", detail = "d" } or { figure_s = 1 } end,
      charts = { gb.chart.bar { x = "n", y = "figure_s" } } })");
  write("night.lua", R"(return { minutes = 5, scripts = { "two" } })");
  EXPECT_EQ(nightly().status, 0);
  write("gone", "");
  const Ended ended = nightly({"--on-alarm", "cat > told"});
  EXPECT_EQ(ended.status, 1) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("not measured: two figure_s of n=2 on cpu:0: it was measured the night before\n"));
  EXPECT_THAT(read("told"), HasSubstr("figure_s of n=2"));
  EXPECT_THAT(ended.out, AllOf(HasSubstr(": 1 new alarm\n"),
                               HasSubstr(" no longer measured: two figure_s of n=2 on cpu:0: it was measured")));
  EXPECT_THAT(read("results/nightly-night.prom"), HasSubstr("gpubench_missing_values{suite=\"night\""));
  const Ended after = nightly();
  EXPECT_EQ(after.status, 0) << "it was told";
  EXPECT_THAT(after.out,
              AllOf(HasSubstr(": no new alarm\n"), HasSubstr("two figure_s of n=2 on cpu:0: missing since 20")));
  std::filesystem::remove(file("gone"));
  EXPECT_THAT(nightly().out, HasSubstr("not measured: none\n"));
}

TEST_F(NightAlarms, AnExperimentThatMeasuresNothingIsAsLoudAsARegression) {
  level(1);
  write("two.lua", R"(local gb = require "gpubench"
    gb.experiment { name = "two", title = "t", axes = { gb.axis("n", { 1, 2 }) },
      columns = { gb.column("figure_s", { unit = "s", better = "lower", kind = "counted" }) },
      run = function(point) return io.open "gone" and { status = "skipped", detail = "d" } or { figure_s = 1 } end,
      charts = { gb.chart.bar { x = "n", y = "figure_s" } } })");
  write("night.lua", R"(return { minutes = 5, scripts = { "steady", "two" } })");
  EXPECT_EQ(nightly().status, 0);
  write("gone", "");
  const Ended ended = nightly({"--on-alarm", "cat > told"});
  EXPECT_EQ(ended.status, 1) << ended.out;
  EXPECT_THAT(ended.out, AllOf(HasSubstr(": 1 new alarm\n"), HasSubstr("no longer measured: two on cpu:0: 2 figures"),
                               HasSubstr("\ntwo on cpu:0: nothing measured\n")));
  EXPECT_FALSE(read("told").empty());
  const Ended after = nightly();
  EXPECT_EQ(after.status, 0);
  EXPECT_THAT(after.out, HasSubstr("not measured: two on cpu:0: 2 figures, missing since "));
  EXPECT_THAT(history({"two", "--accept-missing"}).out, HasSubstr("2 missing figures accepted"));
  EXPECT_THAT(nightly().out, HasSubstr("not measured: two on cpu:0: nothing measured\n"));
  write("night.lua", R"(return { minutes = 5, scripts = { "two" } })");
  EXPECT_THAT(nightly().out, Not(HasSubstr("steady"))) << "the suite no longer has it";
}

TEST_F(NightAlarms, ARefutedClaimIsAnAlarmWhereItWasConfirmedAndAlwaysBelowSuites) {
  std::filesystem::create_directory(file("suites"));
  for (const char* const script : {"errors.lua", "suites/health.lua"}) {
    const std::string name = std::filesystem::path(script).stem();
    write(script, "local gb = require 'gpubench' gb.experiment { name = '" + name + R"(', title = 't',
      axes = { gb.axis("n", { 1 }) }, columns = { gb.column("errors", { better = "lower", kind = "counted" }) },
      run = function() return { errors = io.open "faulty" and 12 or 0 } end,
      charts = { gb.chart.bar { x = "n", y = "errors" } },
      expect = { gb.expect.at_most { y = "errors", value = 0, claim = "the memory has no errors" } } })");
  }
  const auto night_of = [&](const std::string& script) {
    write("night.lua", "return { minutes = 5, scripts = { '" + script + "' } }");
    return nightly({"--on-alarm", "cat > told"});
  };
  write("faulty", "");
  EXPECT_EQ(night_of("errors").status, 0) << "it was never confirmed";
  std::filesystem::remove(file("faulty"));
  EXPECT_EQ(night_of("errors").status, 0);
  write("faulty", "");
  const Ended refuted = night_of("errors");
  EXPECT_EQ(refuted.status, 1) << refuted.out;
  EXPECT_THAT(refuted.out,
              AllOf(HasSubstr(": 1 new alarm\n"), HasSubstr("errors on cpu:0: the memory has no errors (errors")));
  EXPECT_THAT(read("told"), HasSubstr("the memory has no errors"));
  const Ended after = night_of("errors");
  EXPECT_EQ(after.status, 0);
  EXPECT_THAT(after.out, AllOf(HasSubstr("new: none\n"), HasSubstr("; still refuted: errors on cpu:0: the memory")));
  for (int i = 0; i < 2; ++i) {
    const Ended unsound = night_of("suites/health");
    EXPECT_EQ(unsound.status, 1) << "each night";
    EXPECT_THAT(unsound.out, HasSubstr(" health on cpu:0: the memory has no errors"));
  }
}

}  // namespace
}  // namespace gpubench
