// gpubench compare, run --repeat, ab, baseline and check
#include <csignal>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/results/info.h"
#include "tests/lua/host/folder.h"

namespace gpubench {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;

/// Figures that the script computes: `work` seconds, a little different in each process.
constexpr const char* script = R"(local gb = require "gpubench"
local spread = gb.param("spread", 0.0001)
gb.experiment { name = "made", title = "t",
  axes = { gb.axis("n", { 1, 2 }) }, columns = { gb.column("units", { kind = "counted" }) },
  run = function(point)
    local factor = tonumber(os.getenv and os.getenv("FACTOR") or "") or WORK
    return { work_s = factor * point.n * (1 + spread * (math.random(1000) / 1000)), units = 3 }
  end,
  charts = { gb.chart.line { x = "n", y = "work_s" } } })";

class CompareCommands : public FolderTest {
 protected:
  void SetUp() override { write_script("1"); }
  void write_script(std::string work) const {
    std::string text = script;
    write("made.lua", text.replace(text.find("WORK"), 4, work));
  }
  Ended in_folder(const std::vector<std::string>& arguments, const std::vector<std::string>& environment = {}) const {
    return run_program(arguments, path(), environment);
  }
  Ended repeated(const std::string& work, const std::string& count) const {
    write_script(work);
    return in_folder({"run", "made.lua", "--quick", "--repeat", count, "--tag", "work" + work});
  }
};

TEST_F(CompareCommands, RepeatedRunsAreOneSide) {
  const Ended ran = repeated("1", "7");
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("\n7 processes, one side for gpubench compare: "));
  repeated("1.1", "7");
  const Ended compared = in_folder({"compare", "work1", "last"});
  EXPECT_EQ(compared.status, 1) << compared.err;
  EXPECT_THAT(compared.out,
              AllOf(HasSubstr("baseline  work1, 7 processes\n"), HasSubstr("compared  last, 7 processes\n"),
                    HasSubstr("SLOWER in 2 of 2 comparisons"), HasSubstr("method differs: script.lua")));
  EXPECT_EQ(in_folder({"compare", "last", "work1"}).status, 0) << "FASTER never fails";
}

TEST_F(CompareCommands, FewProcessesStayOpen) {
  repeated("1", "1");
  repeated("1.1", "1");
  const Ended compared = in_folder({"compare", "work1", "work1.1", "--format", "json"});
  EXPECT_EQ(compared.status, 3);
  EXPECT_EQ(parse_json(compared.out, "json").text("summary"), "2 AMBIGUOUS");
  EXPECT_EQ(in_folder({"compare", "work1", "work1.1", "--strict"}).status, 3);
  const Ended counted = in_folder({"compare", "work1", "work1.1", "--figure", "units"});
  EXPECT_THAT(counted.out, HasSubstr("SAME in all of 2 comparisons"));
}

TEST_F(CompareCommands, BadInputIsWrongUsage) {
  EXPECT_EQ(in_folder({"compare", "a"}).status, 2);
  const Ended unknown = in_folder({"compare", "a", "b"});
  EXPECT_EQ(unknown.status, 2);
  EXPECT_THAT(unknown.err,
              HasSubstr("'a' is no run, folder of runs, archive, experiment, tag, baseline or file of results"));
  EXPECT_THAT(in_folder({"run", "made.lua", "--repeat", "0"}).err, HasSubstr("--repeat"));
  EXPECT_EQ(in_folder({"run", "made.lua", "--repeat", "0"}).status, 2);
  repeated("1", "1");
  const Ended same = in_folder({"compare", "last", "last"});
  EXPECT_EQ(same.status, 2);
  EXPECT_THAT(same.err, HasSubstr("a process can be on one side only"));
}

TEST_F(CompareCommands, SeveralScriptsTakeTurns) {
  write("other.lua",
        "local gb = require 'gpubench' gb.experiment { name = 'other', title = 't', axes = {},"
        "run = function() return { work_s = 1 } end }");
  const Ended ran = in_folder({"run", "made.lua", "other.lua", "--quick", "--repeat", "2"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, MatchesRegex("(results/(made|other)/[^\n]*\n){4}2 processes, one side[^\n]*\n"));
  const Ended dry = in_folder({"run", "made.lua", "--dry-run", "--repeat", "5"});
  EXPECT_THAT(dry.out, AllOf(HasSubstr("n=1"), HasSubstr("each of these is run in 5 processes\n")));
}

TEST_F(CompareCommands, AbMeasuresBothSidesInTurn) {
  const Ended settings = in_folder({"ab", "--set n=1", "--set n=2", "--repeat", "7", "--", "made.lua", "--quick"});
  EXPECT_EQ(settings.status, 1) << settings.err;
  EXPECT_THAT(settings.out, AllOf(HasSubstr("baseline  --set n=1, 7 processes\n"), HasSubstr("takes 100.0 % more time"),
                                  HasSubstr("the sides were given different settings: n")));
  EXPECT_THAT(settings.err,
              HasSubstr("process 1 of 7: --set n=1\nprocess 1 of 7: --set n=2\nprocess 2 of 7: --set n=2\n"));
  const Ended variables = in_folder({"ab", "X=1", "X=2", "--repeat", "1", "--", "made.lua", "--quick"});
  EXPECT_EQ(variables.status, 3) << variables.err;
  EXPECT_THAT(variables.out, HasSubstr("baseline  X=1, 1 process\n"));
  const Ended programs = in_folder({"ab", "", GPUBENCH_PROGRAM, "--repeat", "1", "--", "made.lua", "--quick"});
  EXPECT_EQ(programs.status, 3) << programs.err;
}

TEST_F(CompareCommands, AbRefusesWhatIsNoSide) {
  EXPECT_THAT(in_folder({"ab", "--", "made.lua"}).err, HasSubstr("two sides and a script are needed"));
  const Ended unknown = in_folder({"ab", "nothing", "X=1", "--", "made.lua"});
  EXPECT_EQ(unknown.status, 2);
  EXPECT_THAT(unknown.err, HasSubstr("'nothing' is no program's file, no NAME=value and no option of run"));
  const Ended broken = in_folder({"ab", "X=1", "X=2", "--", "gone.lua"});
  EXPECT_EQ(broken.status, 2);
  EXPECT_THAT(broken.err, HasSubstr("process 1 of 'X=1' ended with status 2"));
}

TEST_F(CompareCommands, BaselinesAreSavedListedAndReplaced) {
  EXPECT_THAT(in_folder({"baseline", "list"}).out, HasSubstr("no baselines"));
  repeated("1", "2");
  const Ended saved = in_folder({"baseline", "save", "v1"});
  EXPECT_EQ(saved.status, 0) << saved.err;
  EXPECT_THAT(saved.out, HasSubstr("saved 2 runs as baselines/v1"));
  EXPECT_THAT(in_folder({"baseline", "list"}).out, AllOf(HasSubstr("v1"), HasSubstr("2 processes, made, ")));
  EXPECT_THAT(in_folder({"baseline", "safe", "v1"}).err, HasSubstr("unknown action 'safe' (known: list, save)"));
  EXPECT_EQ(in_folder({"pack", "made", "--file", "made.tar.gz"}).status, 0);
  const Ended archive = in_folder({"baseline", "save", "v2", "made.tar.gz"});
  EXPECT_EQ(archive.status, 2);
  EXPECT_THAT(archive.err, HasSubstr("made.tar.gz is an archive; unpack it, and give the folder of its runs"));
  EXPECT_EQ(in_folder({"baseline", "save"}).status, 2);
  EXPECT_EQ(in_folder({"baseline", "save", "a/b"}).status, 2);
}

TEST_F(CompareCommands, ABrokenBaselineLeavesTheOthers) {
  repeated("1", "2");
  in_folder({"baseline", "save", "good"});
  std::filesystem::create_directories(path() + "/baselines/bad/made/1");
  write("baselines/bad/made/1/results.csv", "n\n1,2\n");
  EXPECT_THAT(in_folder({"baseline", "list"}).out,
              AllOf(HasSubstr("bad   cannot be read: "), HasSubstr("good  2 processes, made, ")));
  EXPECT_EQ(in_folder({"check", "last", "--baseline", "good"}).err.find("bad"), std::string::npos);
  const Ended bad = in_folder({"check", "last", "--baseline", "bad"});
  EXPECT_EQ(bad.status, 2);
  EXPECT_THAT(bad.err, HasSubstr("check: the baseline 'bad' cannot be read: "));
}

TEST_F(CompareCommands, CheckMeasuresTheBaselinesScriptsAgain) {
  const Ended none = in_folder({"check", "--baseline", "v1"});
  EXPECT_EQ(none.status, 3);
  EXPECT_THAT(none.err, HasSubstr("no baseline is saved"));
  repeated("1", "7");
  in_folder({"baseline", "save", "v1"});
  const Ended unknown = in_folder({"check", "--baseline", "v11"});
  EXPECT_EQ(unknown.status, 2);
  EXPECT_THAT(unknown.err, HasSubstr("there is no baseline 'v11' (baselines: v1) (did you mean 'v1'?)"));
  const Ended same = in_folder({"check", "--baseline", "v1"});
  EXPECT_EQ(same.status, 0) << same.out << same.err;
  EXPECT_THAT(same.out, HasSubstr("SAME in all of 2 comparisons"));
  EXPECT_THAT(same.err, AllOf(HasSubstr("left out of the baseline's options: --tag\n"),
                              HasSubstr("process 1 of 7: baselines/v1/made/")));
  std::filesystem::remove(path() + "/made.lua");
  const Ended slower = in_folder({"check", "--baseline", "v1", "--confirm"}, {"FACTOR=1.1"});
  EXPECT_EQ(slower.status, 1) << slower.err;
  EXPECT_THAT(slower.err, AllOf(HasSubstr("the baseline's program is this one"),
                                HasSubstr("to confirm: process 7 of 7, new\n"), Not(HasSubstr("of 7, baseline\n"))));
  const Ended junit = in_folder({"check", "last", "--baseline", "v1", "--format", "junit"});
  EXPECT_EQ(junit.status, 1);
  EXPECT_THAT(junit.out, HasSubstr("failures=\"2\""));
}

TEST_F(CompareCommands, WhatIsNotSlowerAgainIsNoAlarm) {
  repeated("1", "7");
  in_folder({"baseline", "save", "v1"});
  repeated("1.1", "7");
  write_script("1");
  const Ended confirmed = in_folder({"check", "last", "--baseline", "v1", "--confirm"});
  EXPECT_EQ(confirmed.status, 0) << confirmed.err;
  EXPECT_THAT(confirmed.out, HasSubstr("AMBIGUOUS: looked SLOWER, takes 10.0 % more time; measured again: SAME"));
  const Ended beside = in_folder({"check", "work1.1", "--baseline", "v1", "--confirm", "--program", GPUBENCH_PROGRAM,
                                  "--repeat", "1", "--figure", "work_s"});
  EXPECT_EQ(beside.status, 0) << "one process confirms nothing";
  EXPECT_THAT(beside.err, HasSubstr("to confirm: process 1 of 1, baseline\nto confirm: process 1 of 1, new\n"));
  EXPECT_EQ(in_folder({"check", "work1.1", "--baseline", "v1", "--confirm", "--program", "gone"}).status, 2);
  EXPECT_THAT(in_folder({"check", "work1.1", "--baseline", "v1", "--program", GPUBENCH_PROGRAM}).err,
              HasSubstr("give --confirm too"));
  EXPECT_THAT(in_folder({"check", "work1.1", "--baseline", "v1", "--trusted"}).err,
              HasSubstr("with runs it starts none without --confirm"));
}

TEST_F(CompareCommands, WhatIsConfirmedIsMeasuredWithTheBaselinesParameters) {
  const std::vector<std::string> run = {"run",   "made.lua", "--quick", "--repeat", "7",
                                        "--tag", "base",     "--set",   "n=2",      "--set=spread=0.5"};
  in_folder(run);
  in_folder({"baseline", "save", "v1"});
  const Ended slower = in_folder({"check", "--baseline", "v1", "--confirm", "--figure", "work_s"}, {"FACTOR=2"});
  EXPECT_EQ(slower.status, 1) << slower.out << slower.err;
  const Ended last = in_folder({"show", "made", "--format", "json"});
  EXPECT_THAT(last.out, AllOf(HasSubstr("\"spread\": 0.5"), HasSubstr("\"--set=n=2\""))) << "of a run that confirms";
  EXPECT_THAT(in_folder({"compare", "base", "v1"}).out, HasSubstr("base, 7 processes\n")) << "no new run has the tag";
}

TEST_F(CompareCommands, ACheckOfAScriptThatFailsEndsAtOnce) {
  write("made.lua", std::string("require 'beside' ") + script);
  write("beside.lua", "WORK = 1");
  EXPECT_EQ(in_folder({"run", "made.lua", "--quick", "--repeat", "7"}).status, 0);
  in_folder({"baseline", "save", "v1"});
  const Ended ended = in_folder({"check", "--baseline", "v1"});
  EXPECT_EQ(ended.status, 2);
  EXPECT_THAT(ended.err, AllOf(HasSubstr("module 'beside' not found"), HasSubstr("in the folders of GPUBENCH_PATH"),
                               HasSubstr("the first process ended with status 2 and made no run"),
                               Not(HasSubstr("process 2 of 7"))));
  EXPECT_EQ(in_folder({"check", "--baseline", "v1"}, {"GPUBENCH_PATH=" + path()}).status, 0);
}

TEST_F(CompareCommands, RowsOfAxesThatBothSidesSetStayApart) {
  const Ended both = in_folder({"ab", "--set n=1,2 --set spread=0", "--set n=1,2 --set spread=0.5", "--repeat", "1",
                                "--format", "json", "--", "made.lua", "--quick"});
  EXPECT_THAT(both.out, AllOf(HasSubstr("\"n\": 1"), HasSubstr("\"n\": 2"), HasSubstr("method (params.spread)")));
  const Ended mixed = in_folder({"ab", "--set n=1,2", "--set n=1", "--", "made.lua"});
  EXPECT_EQ(mixed.status, 2);
  EXPECT_THAT(mixed.err, HasSubstr("n has several values, and not the same ones on both sides"));
}

TEST_F(CompareCommands, CalibrationIsUsedByLaterVerdicts) {
  EXPECT_EQ(in_folder({"calibrate"}).status, 2);
  EXPECT_EQ(in_folder({"calibrate", "made.lua", "--from", "last"}).status, 2);
  repeated("1", "7");
  EXPECT_THAT(in_folder({"calibrate", "--from", "work1"}).err, HasSubstr("measure it with --repeat 14"));
  const Ended calibrated = in_folder({"calibrate", "made.lua", "--repeat", "14", "--", "--quick", "--tag", "more"});
  EXPECT_EQ(calibrated.status, 0) << calibrated.err;
  EXPECT_THAT(calibrated.out, AllOf(HasSubstr("false alarms share"), HasSubstr("stored: calibration/")));
  const Ended compared = in_folder({"compare", "work1", "more", "--format", "json"});
  EXPECT_THAT(compared.out, HasSubstr("\"calibrated\": true"));
}

TEST_F(CompareCommands, ResultsOfOthersAreComparedToo) {
  std::string before = "case,process,time_s\n", after = before;
  for (int i = 0; i < 7; ++i) {
    before += "x," + std::to_string(i) + ",1.00" + std::to_string(i) + "\n";
    after += "x," + std::to_string(i) + ",1.20" + std::to_string(i) + "\n";
  }
  write("a.csv", before);
  write("b.csv", after);
  const Ended compared = in_folder({"compare", "a.csv", "b.csv", "--format", "markdown"});
  EXPECT_EQ(compared.status, 1) << compared.err;
  EXPECT_THAT(compared.out, HasSubstr("**SLOWER in 1 of 1 comparison: takes 19.9 % more time"));
}

TEST_F(CompareCommands, AFigureWithoutADirectionCannotFailUntilItGetsOne) {
  std::string before = "case,process,score\n", after = before;
  for (int i = 0; i < 7; ++i) {
    before += "x," + std::to_string(i) + ",1.00" + std::to_string(i) + "\n";
    after += "x," + std::to_string(i) + ",0.80" + std::to_string(i) + "\n";
  }
  write("a.csv", before);
  write("b.csv", after);
  const Ended compared = in_folder({"compare", "a.csv", "b.csv", "--format", "markdown"});
  EXPECT_EQ(compared.status, 0) << compared.err;
  EXPECT_THAT(compared.out, AllOf(HasSubstr("**CHANGED in 1 of 1"), HasSubstr("score cannot fail"),
                                  HasSubstr("--better score=lower (or higher) gives one")));
  const Ended with = in_folder({"compare", "a.csv", "b.csv", "--better", "score=higher", "--format", "markdown"});
  EXPECT_EQ(with.status, 1) << with.err;
  EXPECT_THAT(with.out, AllOf(HasSubstr("**WORSE in 1 of 1"), Not(HasSubstr("cannot fail"))));
  EXPECT_EQ(in_folder({"compare", "a.csv", "b.csv", "--better", "score=lower"}).status, 0);
  for (const char* wrong : {"score", "score=", "score=up", "=lower"}) {
    const Ended ended = in_folder({"compare", "a.csv", "b.csv", "--better", wrong});
    EXPECT_EQ(ended.status, 2) << wrong;
    EXPECT_THAT(ended.err, HasSubstr("NAME=lower or NAME=higher is expected")) << wrong;
  }
  const Ended unknown = in_folder({"compare", "a.csv", "b.csv", "--better", "skore=lower"});
  EXPECT_EQ(unknown.status, 2);
  EXPECT_THAT(unknown.err, HasSubstr("unknown figure 'skore' (did you mean 'score'?)"));
}

TEST_F(CompareCommands, MixedSidesAndUnknownFilesAreErrors) {
  write("a.csv", "case,process,time_s\nx,1,1.5\n");
  write("b.json", R"({"results": [{"command": "x", "times": [1.5]}]})");
  write("c.json", R"({"x": 1})");
  const Ended mixed = in_folder({"compare", "a.csv,b.json", "a.csv"});
  EXPECT_EQ(mixed.status, 2);
  EXPECT_THAT(mixed.err, HasSubstr("mixes results of CSV ("));
  const Ended unknown = in_folder({"compare", "a.csv", "c.json"});
  EXPECT_EQ(unknown.status, 2);
  EXPECT_THAT(unknown.err, HasSubstr("c.json: JSON of no known program; known are Google Benchmark"));
}

TEST_F(CompareCommands, CtrlCEndsARepeatedRun) {
  write("endless.lua", "io.stderr:write 'ready\\n' print 'ready' io.stdout:flush() while true do end");
  StartedProgram program({"run", "endless.lua", "--repeat", "3", "-q"}, path());
  ASSERT_TRUE(program.wait_for("ready"));
  program.signal(SIGTERM);
  EXPECT_EQ(program.end().status, 143);
}

}  // namespace
}  // namespace gpubench
