// gpubench nightly, gpubench history: real processes, which measure a figure that the test chooses.
#include <algorithm>
#include <csignal>
#include <functional>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <thread>

#include "core/results/info.h"
#include "tests/lua/host/folder.h"

namespace gpubench {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class Nights : public FolderTest {
 protected:
  void SetUp() override {
    write("steady.lua", R"(local gb = require "gpubench"
      local file <close> = assert(io.open "level")
      local level = file:read "n"
      gb.experiment { name = "steady", title = "t", axes = { gb.axis("device", { "cpu:0" }), gb.axis("n", { 1 }) },
        columns = { gb.column("figure_s", { unit = "s", better = "lower", kind = "counted" }) },
        run = function(point) return { device = point.device, figure_s = level } end,
        charts = { gb.chart.bar { x = "n", y = "figure_s" } } })");
    write("night.lua", R"(return { minutes = 5, scripts = { "steady" } })");
  }
  Ended nightly(std::vector<std::string> options = {}) const {
    options.insert(options.begin(), {"nightly", "night.lua"});
    return run_program(options, path());
  }
  /// Ids of the processes in this folder with such a word in their command.
  std::vector<std::string> processes_here(const std::string& word) const {
    std::vector<std::string> ids;
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
      std::error_code gone;
      if (std::filesystem::read_symlink(entry.path() / "cwd", gone) != std::filesystem::canonical(path())) continue;
      if (contents(entry.path() / "cmdline").find(word) != std::string::npos)
        ids.push_back(entry.path().filename().string());
    }
    return ids;
  }
  static bool becomes(const std::function<bool()>& wanted) {
    for (int i = 0; i < 1000; ++i) {
      if (wanted()) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return false;
  }
  /// The first "#7f3k2qa9" of a text.
  static std::string id_in(const std::string& text) {
    const std::size_t at = text.find('#');
    return at == std::string::npos ? "none" : text.substr(at + 1, 8);
  }
  Ended history(std::vector<std::string> options = {}) const {
    options.insert(options.begin(), "history");
    return run_program(options, path());
  }
  void level(double value) const { write("level", std::to_string(value)); }
  /// Ends with the status of the last night.
  Ended nights_at(double value, int count, const std::vector<std::string>& options = {}) const {
    Ended last;
    for (int i = 0; i < count; ++i) {
      level(value + 1e-6 * (i * 7 % 5));
      last = nightly(options);
      EXPECT_LE(last.status, 1) << last.err;
      if (last.status == 1) return last;
    }
    return last;
  }
};

TEST_F(Nights, AnAlarmComesOnceAndStaysOpenUntilItIsResolved) {
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

TEST_F(Nights, ARepairIsToldTheSameNight) {
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

TEST_F(Nights, WhatIsNotSeenAgainIsNoAlarm) {
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

TEST_F(Nights, WhatNobodyWasToldIsToldAgain) {
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

TEST_F(Nights, RebuildingAndMergingTellNothingAway) {
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

TEST_F(Nights, AKilledNightLeavesNoYesterdayNoOrphanAndNoLostRun) {
  level(1);
  EXPECT_EQ(nightly().status, 0);
  write("endless.lua", "while true do end");
  write("night.lua", R"(return { minutes = 5, scripts = { "steady", "endless" } })");
  StartedProgram program({"nightly", "night.lua"}, path());
  ASSERT_TRUE(program.wait_for("steady on cpu:0: done"));
  ASSERT_TRUE(becomes([&] { return !processes_here("endless.lua").empty(); }));
  program.signal(SIGKILL);
  program.end();
  EXPECT_THAT(read("results/nightly-night.txt"), HasSubstr(": it goes on, or was killed\n"));
  EXPECT_TRUE(becomes([&] { return processes_here("endless.lua").empty(); })) << "its script goes on";
}

TEST_F(Nights, ARunThatEndedInAKilledNightIsAppendedByTheNextOne) {
  level(1);
  // What `gpubench run` leaves between its end and that of the night which had started it.
  EXPECT_EQ(
      run_program({"run", "steady.lua", "--tag", "suite=night", "--tag", "night=20260101T000000Z-x"}, path()).status,
      0);
  EXPECT_FALSE(find("history.pending").empty());
  EXPECT_EQ(nightly().status, 0);
  EXPECT_TRUE(find("history.pending").empty());
  const Info parsed = parse_json(history({"steady", "--format", "json"}).out, "history");
  EXPECT_EQ(parsed.find("series")->list()->at(0).find("points")->list()->size(), 2u);
}

TEST_F(Nights, AnEditedSuiteIsSaidAndNoAlarm) {
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

TEST_F(Nights, ADeviceThatTheSuiteNamesAndThatIsAbsentIsAnAlarm) {
  level(1);
  write("night.lua", R"(return { minutes = 5, devices = { "cpu", "gpu" }, scripts = { "steady" } })");
  const Ended absent = nightly();
  EXPECT_EQ(absent.status, 1) << absent.out;
  EXPECT_THAT(absent.out, HasSubstr("gpu: there is no such device; the suite names it"));
  const Ended later = nightly();
  EXPECT_EQ(later.status, 0) << "it was told";
  EXPECT_THAT(later.out, HasSubstr("not measured: gpu: there is no such device, since 20"));
}

TEST_F(Nights, TheNightIsPrintedForPrograms) {
  nights_at(0.010, 12);
  level(0.020);
  const Ended ended = nightly({"--json", "--junit", "night.xml", "--host", "node7"});
  EXPECT_EQ(ended.status, 0) << "another host: " << ended.err;
  const Info night = parse_json(ended.out, "nightly --json");
  EXPECT_EQ(night.text("host"), "node7");
  EXPECT_EQ(night.text("schema"), "1");
  EXPECT_THAT(ended.err, HasSubstr("steady on cpu:0: done"));
  EXPECT_THAT(read("night.xml"), AllOf(HasSubstr("<testsuite"), HasSubstr("figure_s of n=1 on cpu:0")));
  const Info alarm = parse_json(nightly({"--json"}).out, "nightly --json");
  ASSERT_EQ(alarm.find("alarms")->list()->size(), 1u);
  EXPECT_EQ(alarm.find("alarms")->list()->at(0).text("kind"), "regression");
  EXPECT_EQ(nightly({"--host", "../x"}).status, 2);
}

TEST_F(Nights, AHistoryIsBackedUpAndNoEmptyOneReplacesIt) {
  nights_at(0.010, 2);
  EXPECT_THAT(history({"--backup", "copy.db"}).out, HasSubstr("wrote copy.db"));
  EXPECT_EQ(history({"--backup", "copy.db"}).status, 0);
  EXPECT_THAT(run_program({"history", "--out", "elsewhere", "--rebuild"}, path()).out, HasSubstr("0 runs read"));
  const Ended refused = run_program({"history", "--out", "elsewhere", "--backup", "copy.db"}, path());
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.err, HasSubstr("has no run yet"));
  write("mine.txt", "mine");
  EXPECT_NE(history({"--backup", "mine.txt"}).status, 0);
  EXPECT_EQ(read("mine.txt"), "mine");
}

TEST_F(Nights, TheTrendIsPrintedForPrograms) {
  nights_at(0.010, 2);
  const Ended json = history({"steady", "--format", "json"});
  const Info parsed = parse_json(json.out, "history --format json");
  const Info& series = parsed.find("series")->list()->at(0);
  EXPECT_EQ(series.text("suite"), "night");
  EXPECT_EQ(series.find("points")->list()->size(), 2u);
  EXPECT_THAT(history({"steady", "--format", "csv"}).out, StartsWith("host,card,slot,suite,experiment,axes,metric"));
  EXPECT_EQ(history({"--export", "all.csv"}).status, 0);
  EXPECT_EQ(read("all.csv"), history({"steady", "--format", "csv"}).out);
  const Ended again = history({"--export", "all.csv"});
  EXPECT_EQ(again.status, 2);
  EXPECT_THAT(again.err, HasSubstr("'all.csv' is there already"));
  EXPECT_THAT(history({"unsteady"}).err, AllOf(HasSubstr("no experiment 'unsteady'"), HasSubstr("steady")));
}

TEST_F(Nights, AHistoryIsRebuiltMergedAndPruned) {
  EXPECT_THAT(history().err, AllOf(HasSubstr("there is no history"), HasSubstr("--rebuild")));
  nights_at(0.010, 3);
  const std::string before = history({"steady", "--format", "json"}).out;
  for (const char* const name : {"results/history.db", "results/history.db-wal", "results/history.db-shm"})
    std::filesystem::remove(file(name));
  EXPECT_THAT(history({"--rebuild"}).out, HasSubstr("3 runs read"));
  EXPECT_EQ(history({"steady", "--format", "json"}).out, before);
  EXPECT_THAT(run_program({"history", "--out", "elsewhere", "--merge", "results/history.db"}, path()).out,
              HasSubstr("3 runs added"));
  EXPECT_THAT(history({"--prune", "1"}).out, HasSubstr("0 runs forgotten")) << "they are of today";
  write("text.db", std::string(200, 'x'));
  const Ended several = run_program({"history", "--out", "third", "--merge", "text.db", "results/history.db", "none.db",
                                     "elsewhere/results/history.db"},
                                    path());
  EXPECT_EQ(several.status, 2);
  EXPECT_EQ(several.out, "3 runs added from results/history.db\n0 runs added from elsewhere/results/history.db\n");
  EXPECT_THAT(several.err, AllOf(HasSubstr("not merged: history: 'text.db'"), HasSubstr("there is no file 'none.db'")));
}

TEST_F(Nights, AClockThatJumpsMovesNoNight) {
  for (const double value : {0.010, 0.012345, 0.030}) {
    level(value);
    EXPECT_EQ(nightly().status, 0);
    if (value != 0.012345) continue;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(file("results"))) {
      if (entry.path().filename() != "run.json") continue;
      std::string text = contents(entry.path());
      if (contents(entry.path().parent_path() / "results.csv").find("0.012345") == std::string::npos) continue;
      const std::size_t at = text.find("\"started\": \"") + 12;
      std::ofstream(entry.path()) << text.replace(at, 4, "1970");
    }
    EXPECT_EQ(history({"--rebuild"}).status, 0);
  }
  const std::string text = history({"steady"}).out;
  EXPECT_THAT(text, HasSubstr("figure_s  30 ms now, 3 runs since 20"));
  EXPECT_THAT(text, HasSubstr("1970-"));
  EXPECT_THAT(text, HasSubstr("the clock was set back before this run"));
}

TEST_F(Nights, AFigureThatVanishesIsAsLoudAsARegression) {
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

TEST_F(Nights, AnExperimentThatMeasuresNothingIsAsLoudAsARegression) {
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

TEST_F(Nights, ARefutedClaimIsAnAlarmWhereItWasConfirmedAndAlwaysBelowSuites) {
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

TEST_F(Nights, AnExperimentWithTwoParametersIsTwoSeries) {
  write("scaled.lua", R"(local gb = require "gpubench"
    local base = gb.param("base", 1)
    gb.experiment { name = "scaled", title = "t", axes = { gb.axis("n", { 1 }) },
      columns = { gb.column("figure_s", { unit = "s", better = "lower", kind = "counted" }) },
      run = function() return { figure_s = base } end, charts = { gb.chart.bar { x = "n", y = "figure_s" } } })");
  write("night.lua", R"(return { minutes = 5, scripts = {
    { "scaled", set = { base = 1 } }, { "scaled", set = { base = 3 } }, "scaled" } })");
  EXPECT_EQ(nightly().status, 0);
  EXPECT_EQ(nightly().out.find("no longer measured"), std::string::npos);
  EXPECT_THAT(history({"scaled"}).out, AllOf(HasSubstr(": n=1\n"), HasSubstr(": n=1 base=3\n")));
  const std::string metrics = read("results/nightly-night.prom");
  std::vector<std::string> labels;
  for (std::size_t at = metrics.find("gpubench_value{"); at != std::string::npos;
       at = metrics.find("gpubench_value{", at + 1))
    labels.push_back(metrics.substr(at, metrics.find('}', at) - at));
  EXPECT_EQ(labels.size(), 2u) << metrics;
  EXPECT_NE(labels[0], labels[1]);
}

TEST_F(Nights, WhatCannotBeMeasuredIsNamed) {
  level(1);
  write("broken.lua", "error('broken', 0)");
  write("night.lua", R"(return { minutes = 5, scripts = { "broken", "steady" } })");
  const Ended broken = nightly();
  EXPECT_EQ(broken.status, 2);
  write("night.lua", R"(return { minutes = 5, scripts = { "stedy", "steady" } })");
  const Ended misspelt = nightly();
  EXPECT_EQ(misspelt.status, 2);
  EXPECT_THAT(misspelt.out,
              AllOf(HasSubstr("measured: 1 of 2 script runs"), HasSubstr("script 1 (stedy): there is no")));
  EXPECT_THAT(broken.out,
              AllOf(HasSubstr("measured: 1 of 2 script runs"), HasSubstr("not measured: broken on cpu:0: error\n")));
  write("night.lua", R"(return { minutes = 5, devices = { "gpu" }, scripts = { "steady" } })");
  const Ended no_device = nightly();
  EXPECT_EQ(no_device.status, 3);
  EXPECT_THAT(no_device.out, HasSubstr("not measured: gpu: there is no such device\n"));
  EXPECT_THAT(no_device.out, HasSubstr(": nothing could be judged, 1 new alarm\n"));
  write("night.lua", R"(return { minutes = 5, free_memory_bytes = 1e18, scripts = { "steady" } })");
  const Ended no_memory = nightly();
  EXPECT_EQ(no_memory.status, 3);
  EXPECT_THAT(no_memory.out, HasSubstr("not measured: cpu:0: "));
}

TEST_F(Nights, OneWithoutTimeForAnyScriptIsReported) {
  write("night.lua", R"(return { minutes = 1e-6, scripts = { "steady" } })");
  const Ended ended = nightly();
  EXPECT_EQ(ended.status, 3) << ended.err;
  EXPECT_THAT(read("results/nightly-night.txt"), HasSubstr("not measured: steady on cpu:0: the time was over\n"));
}

TEST_F(Nights, AScriptThatTakesTooLongIsStoppedAndTheRestIsLeftOut) {
  level(1);
  write("endless.lua", "while true do end");
  write("night.lua", R"(return { minutes = 0.1, scripts = { "endless", "steady" } })");
  const Ended ended = nightly();
  EXPECT_EQ(ended.status, 3);
  EXPECT_THAT(ended.out, AllOf(HasSubstr("endless on cpu:0: stopped: its time was over"), HasSubstr("and 1 more")));
}

TEST_F(Nights, ADryRunMeasuresNothing) {
  const Ended ended = nightly({"--dry-run"});
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_THAT(ended.out,
              AllOf(HasSubstr("steady on cpu:0: gpubench run steady.lua -q --out=. --tag=suite=night --device=cpu:0"),
                    HasSubstr("1 script run within 5 min")));
  EXPECT_FALSE(std::filesystem::exists(file("results")));
}

TEST_F(Nights, AnAxisOfASuiteIsNoOption) {
  write("night.lua", R"(return { minutes = 5, scripts = { { "steady", set = { ["--trusted"] = 1 } } } })");
  const Ended ended = nightly({"--dry-run"});
  EXPECT_EQ(ended.status, 2);
  EXPECT_THAT(ended.err, HasSubstr("(steady): set: the name of an axis or parameter expected, got '--trusted'"));
}

TEST_F(Nights, CtrlCEndsTheNightAndKeepsWhatWasMeasured) {
  level(1);
  write("endless.lua", "io.stderr:write 'ready' while true do end");
  write("night.lua", R"(return { minutes = 5, scripts = { "steady", "endless" } })");
  StartedProgram program({"nightly", "night.lua"}, path());
  ASSERT_TRUE(program.wait_for("steady on cpu:0: done"));
  program.signal(SIGINT);
  EXPECT_EQ(program.end().status, 130);
  EXPECT_THAT(history({"steady", "--format", "csv"}).out, HasSubstr(",figure_s,"));
}

TEST_F(Nights, TwoNightsAtOnceAreBothInTheHistory) {
  level(1);
  write("other.lua", R"(return { minutes = 5, scripts = { "steady", "steady", "steady" } })");
  write("night.lua", R"(return { minutes = 5, scripts = { "steady", "steady", "steady" } })");
  StartedProgram one({"nightly", "night.lua"}, path()), two({"nightly", "other.lua"}, path());
  const Ended first = one.end(), second = two.end();
  EXPECT_EQ(first.status, 0) << first.err;
  EXPECT_EQ(second.status, 0) << second.err;
  const Info parsed = parse_json(history({"steady", "--format", "json"}).out, "history");
  ASSERT_EQ(parsed.find("series")->list()->size(), 4u) << "two figures, two suites";
  for (const Info& series : *parsed.find("series")->list()) EXPECT_EQ(series.find("points")->list()->size(), 3u);
}

TEST_F(Nights, ADamagedHistoryIsNamedAndRowsWait) {
  level(1);
  std::filesystem::create_directory(file("results"));
  write("results/history.db", std::string(5000, 'x'));
  const Ended ended = nightly();
  EXPECT_EQ(ended.status, 3);
  EXPECT_THAT(ended.err, AllOf(HasSubstr("is damaged, or no history"), HasSubstr("history --rebuild")));
  EXPECT_FALSE(find("history.pending").empty());
  std::filesystem::remove(file("results/history.db"));
  EXPECT_EQ(nightly().status, 0);
  EXPECT_TRUE(find("history.pending").empty());
  const Info parsed = parse_json(history({"steady", "--format", "json"}).out, "history");
  EXPECT_EQ(parsed.find("series")->list()->at(0).find("points")->list()->size(), 2u);
}

TEST_F(Nights, OptionsThatDoNotFit) {
  EXPECT_THAT(history({"--note", "x"}).err, HasSubstr("it needs --resolve"));
  EXPECT_EQ(history({"--prune", "-1"}).status, 2);
  EXPECT_EQ(history({"steady", "--format", "xml"}).status, 2);
  EXPECT_EQ(run_program({"nightly"}, path()).status, 2);
  EXPECT_EQ(nightly({"--minutes", "0"}).status, 2);
}

TEST_F(Nights, WhatIsForTheWholeHistoryTakesNoExperiment) {
  nights_at(0.010, 2);
  for (const std::vector<std::string>& options : {std::vector<std::string>{"--prune", "0"},
                                                  {"--rebuild"},
                                                  {"--merge", "other.db"},
                                                  {"--resolve", "1"},
                                                  {"--backup", "f.db"}}) {
    std::vector<std::string> all = options;
    all.insert(all.begin(), "steady");
    const Ended ended = history(all);
    EXPECT_EQ(ended.status, 2) << options[0];
    EXPECT_THAT(ended.err, HasSubstr(options[0] + " is for the whole history; leave out 'steady'"));
  }
  EXPECT_EQ(history({"steady", "--format", "json", "--export", "f.csv"}).status, 2);
  const Info parsed = parse_json(history({"steady", "--format", "json"}).out, "history");
  EXPECT_EQ(parsed.find("series")->list()->at(0).find("points")->list()->size(), 2u) << "nothing was forgotten";
  const Ended unknown = history({"unsteady", "--export", "f.csv"});
  EXPECT_EQ(unknown.status, 2);
  EXPECT_THAT(unknown.err, AllOf(HasSubstr("no experiment 'unsteady'"), HasSubstr("steady")));
  EXPECT_FALSE(std::filesystem::exists(file("f.csv")));
}

TEST_F(Nights, AScriptCannotStartPrograms) {
  EXPECT_EQ(run("print(require('gpubench.native')._native.host)").out, "nil\n");
}

}  // namespace
}  // namespace gpubench
