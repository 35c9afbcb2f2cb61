// How nights run: suites, time limits, what ends or kills a night, and what is kept of it then.
#include "tests/lua/host/nights.h"

#include <csignal>
#include <gmock/gmock.h>

#include "core/results/info.h"

namespace gpubench {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

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

TEST_F(Nights, OptionsThatDoNotFit) {
  EXPECT_THAT(history({"--note", "x"}).err, HasSubstr("it needs --resolve"));
  EXPECT_EQ(history({"--prune", "-1"}).status, 2);
  EXPECT_EQ(history({"steady", "--format", "xml"}).status, 2);
  EXPECT_EQ(run_program({"nightly"}, path()).status, 2);
  EXPECT_EQ(nightly({"--minutes", "0"}).status, 2);
}

TEST_F(Nights, AScriptCannotStartPrograms) {
  EXPECT_EQ(run("print(require('gpubench.native')._native.host)").out, "nil\n");
}

}  // namespace
}  // namespace gpubench
