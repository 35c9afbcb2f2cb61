#include "lua/host/script_runner.h"

#include <csignal>
#include <cstdlib>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/lua/host/folder.h"

namespace gpubench {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

using ScriptRunner = FolderTest;

constexpr const char* experiment = R"(
local gb = require "gpubench"
gb.experiment {
  name = "small", title = "A small sweep",
  axes = { gb.axis("n", { 1, 2, 3 }) },
  run = function(point)
    BODY
    return { figure = point.n, figure_per_s = 1.0 / point.n }
  end,
  expect = { gb.expect.increasing { x = "n", y = "figure_per_s" } },
}
)";

std::string with_body(const std::string& body) {
  std::string text = experiment;
  return text.replace(text.find("BODY"), 4, body);
}

TEST_F(ScriptRunner, ErrorsStartWithTheScriptsLine) {
  const Ended syntax = run("local x = = 1");
  EXPECT_EQ(syntax.status, 2);
  EXPECT_EQ(syntax.err, "script.lua:1: unexpected symbol near '='\n");
  EXPECT_EQ(run("\nerror('odd')").err, "script.lua:2: odd\n");
  EXPECT_THAT(run("local gb = require 'gpubench'\ngb.device('tpu:0', print)").err,
              StartsWith("script.lua:2: gb.device: 'tpu:0' names no device"));
  EXPECT_THAT(run("require('gpubench').experiment { nam = 'x' }").err,
              StartsWith("script.lua:1: gb.experiment: unknown option 'nam'"));
  write("broken.lua", "\nreturn )");
  EXPECT_THAT(run("require 'broken'").err, HasSubstr("broken.lua:2: unexpected symbol near ')'"));
}

TEST_F(ScriptRunner, OsExitEndsATrustedScriptWhoseFilesAreComplete) {
  const std::string script = with_body("if point.n == 2 then pcall(os.exit, 5) end") + "print('never')";
  const Ended ended = run(script, {"--trusted", "--quick"});
  EXPECT_EQ(ended.status, 5);
  EXPECT_EQ(ended.err, "");
  EXPECT_THAT(ended.out, Not(HasSubstr("never")));
  EXPECT_THAT(read(find("run.json")), HasSubstr("\"status\": \"error\""));
  EXPECT_THAT(read(find("results.csv")), HasSubstr("small,1,0,1,ok"));
  EXPECT_EQ(run("os.exit()", {"--trusted"}).status, 0);
  EXPECT_EQ(run("os.exit(false)", {"--trusted"}).status, 1);
  EXPECT_EQ(run("coroutine.wrap(function() os.exit(true) end)() print 'never'", {"--trusted"}).out, "");
  const std::string leaves = "setmetatable({}, { __close = function() os.exit(12) end })";
  const Ended closed = run("local co = coroutine.create(function() local c <close> = " + leaves +
                               " coroutine.yield() end)\ncoroutine.resume(co) coroutine.close(co) print 'never'",
                           {"--trusted"});
  EXPECT_EQ(closed.status, 12);
  EXPECT_EQ(closed.out, "");
  EXPECT_EQ(run("setmetatable({}, { __gc = function() os.exit(9) end }) collectgarbage()", {"--trusted"}).status, 9);
  EXPECT_EQ(run("os.exit('x')", {"--trusted"}).err,
            "script.lua:1: os.exit: argument #1: true, false or an integer from 0 to 255 expected\n");
}

TEST_F(ScriptRunner, ARestartThatNothingTakesUpIsAnError) {
  write("kept", "");
  const std::string missing =
      "gpubench: run: --restart-from kept: the script has trained nothing by model:fit with the option 'resume', "
      "so "
      "nothing went on from there\n";
  const Ended ended = run(with_body(""), {"--quick", "--restart-from", "kept"});
  EXPECT_EQ(ended.status, 2);
  EXPECT_EQ(ended.err, missing);
  EXPECT_THAT(read(find("run.json")), HasSubstr("\"status\": \"done\""));
  EXPECT_EQ(run(with_body(""), {"--dry-run", "--restart-from", "kept"}).err, "");
}

TEST_F(ScriptRunner, TracebackIsShownWhenAsked) {
  const std::string script = "local function inner() error('odd') end\nlocal function outer() inner() end\nouter()";
  EXPECT_THAT(run(script).err, Not(HasSubstr("stack traceback")));
  EXPECT_THAT(run(script, {"--traceback"}).err,
              AllOf(StartsWith("script.lua:1: odd\nstack traceback:"), HasSubstr("script.lua:2: in local 'outer'")));
}

TEST_F(ScriptRunner, AScriptMayComeThroughAPipe) {
  const auto shell = [&](const std::string& command) {
    return WEXITSTATUS(std::system(("cd " + path() + " && bash -c '" + command + "' > out 2> error").c_str()));
  };
  write("script.lua", "#!/usr/bin/env gpubench\nprint(\"hello\") error(\"odd\")");
  for (const char* command :
       {"\"" GPUBENCH_PROGRAM "\" <(cat script.lua)", "cat script.lua | \"" GPUBENCH_PROGRAM "\" /dev/stdin",
        "mkfifo pipe; cat script.lua > pipe & \"" GPUBENCH_PROGRAM "\" pipe"}) {
    EXPECT_EQ(shell(command), 2) << command;
    EXPECT_EQ(read("out"), "hello\n") << command;
    EXPECT_THAT(read("error"), HasSubstr(":2: odd\n")) << command;
  }
  EXPECT_EQ(shell("\"" GPUBENCH_PROGRAM "\" --workers 2 <(cat script.lua)"), 2);
  EXPECT_THAT(read("error"), HasSubstr("is no file: each process reads the script, and a pipe can be read once"));
}

TEST_F(ScriptRunner, WhatIsNoScriptIsNamed) {
  const Ended folder = run_program({"run", "."}, path());
  EXPECT_EQ(folder.status, 2);
  EXPECT_EQ(folder.err, "gpubench: run: '.' is a folder; a script is expected\n");
  const Ended endless = run_program({"run", "/dev/zero"}, path());
  EXPECT_EQ(endless.status, 2);
  EXPECT_EQ(endless.err, "gpubench: run: '/dev/zero' has more than 64 MiB, which no script has\n");
}

TEST_F(ScriptRunner, ARunThatDiedIsShownAndFinished) {
  const Ended killed = run(with_body("if point.n == 3 then os.execute('kill -KILL $PPID') end"), {"--trusted"});
  EXPECT_EQ(killed.status, 128 + SIGKILL);
  EXPECT_THAT(run_program({"show", "small"}, path()).out, HasSubstr(", died\n"));
  EXPECT_THAT(run_program({"show"}, path()).out, HasSubstr("  died, 2 rows: "));
  const Ended finished = run_program({"finish", "small"}, path());
  EXPECT_EQ(finished.status, 0) << finished.err;
  EXPECT_THAT(finished.out, AllOf(HasSubstr(", died\n"), HasSubstr("wrote results/small/"), HasSubstr("report.html")));
  EXPECT_THAT(finished.err, HasSubstr("The program ended before the run did"));
  EXPECT_THAT(read(find("report.html")), HasSubstr("figure_per_s rises with n"));
  EXPECT_THAT(run_program({"finish", "small"}, path()).out, HasSubstr("has its report already: nothing to finish\n"));
  const Ended none = run_program({"finish", "nothing"}, path());
  EXPECT_EQ(none.status, 2);
  EXPECT_THAT(none.err, HasSubstr("no run 'nothing'"));
}

TEST_F(ScriptRunner, AFolderFullOfLinksAndDevicesHarmsNoRun) {
  const auto planted = file("results/e/20260101T000000Z-x");
  std::filesystem::create_directories(planted);
  std::filesystem::create_symlink("/dev/zero", planted / "run.json");
  write("results/e/20260101T000000Z-x/results.csv", "a\r\n");
  EXPECT_EQ(run(with_body("")).status, 0);
  EXPECT_THAT(run_program({"show"}, path()).out,
              AllOf(HasSubstr("20260101T000000Z-x "), HasSubstr(" unreadable, 0 rows")));
}

TEST_F(ScriptRunner, AMissingScriptAndAnUnknownDevice) {
  EXPECT_EQ(run_program({"run", "none.lua"}, path()).err, "gpubench: run: no script 'none.lua'\n");
  const Ended device = run("", {"--device", "tpu:0"});
  EXPECT_EQ(device.status, 2);
  EXPECT_THAT(device.err, HasSubstr("tpu:0"));
}

TEST_F(ScriptRunner, PrintsTheTableTheVerdictsAndTheFiles) {
  const Ended ended = run(with_body(""));
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_THAT(ended.out,
              AllOf(HasSubstr("A small sweep"), HasSubstr("refuted: figure_per_s rises with n (falls from 1/s"),
                    HasSubstr("results.csv")));
  EXPECT_EQ(ended.err.find("\r"), std::string::npos) << "a progress line, though stderr is no terminal";
  EXPECT_EQ(run(with_body(""), {"--strict"}).status, 1);
}

TEST_F(ScriptRunner, AClaimThatStaysOpenIsNotConfirmedAndNoFailure) {
  const Ended ended =
      run(with_body("do return { figure_per_s = point.n, quality = 'unreliable: noise' } end"), {"--strict"});
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("inconclusive: figure_per_s rises with n (3 of 3 rows unreliable: noise)"));
  EXPECT_THAT(read(find("run.json")), HasSubstr("\"verdict\": \"inconclusive\""));
}

TEST_F(ScriptRunner, ATerminalShowsWhereTheSweepStands) {
  write("script.lua", with_body(""));
  const std::string command =
      "cd " + path() + " && script -qec '" GPUBENCH_PROGRAM " script.lua' terminal.txt >/dev/null";
  ASSERT_EQ(std::system(command.c_str()), 0);
  EXPECT_THAT(read("terminal.txt"), AllOf(HasSubstr("[1/3] n=1  "), HasSubstr("[3/3] n=3  "), HasSubstr(" left")));
}

/// A machine that is never idle.
constexpr const char* never_idle = R"(
local native = require "gpubench"._native
local wait = native.contention.wait_idle
native.contention.wait_idle = function(seconds)
  print "waits" io.stdout:flush()
  wait(seconds)
  return false, { others_share = 1, stolen_share = 0 }
end
)";

TEST_F(ScriptRunner, TheWaitForAnIdleMachineEndsWithCtrlC) {
  write("script.lua", std::string(never_idle) + "require('gpubench.idle').before_first_point()");
  StartedProgram program({"script.lua", "--wait-idle", "86400"}, path());
  ASSERT_TRUE(program.wait_for("waits\nwaits\n"));
  program.signal(SIGINT);
  const Ended ended = program.end();
  EXPECT_EQ(ended.status, 128 + SIGINT);
  EXPECT_EQ(ended.err,
            "waiting for an idle machine, at most 24 h (--wait-idle): other programs use 100 % of the processors, the "
            "hypervisor takes 0 %\ninterrupted\n");
}

TEST_F(ScriptRunner, TheWaitForAnIdleMachineEndsWithThePointsTimeLimit) {
  const Ended ended = run(std::string(never_idle) + "print(native.protect(wait, 600))", {"--timeout", "0.1"});
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_THAT(ended.out, StartsWith("false\ttimeout\tnot done after 100 ms (--timeout)"));
}

TEST_F(ScriptRunner, AMachineThatIsNeverIdleIsMeasuredAllTheSame) {
  const Ended ended = run(std::string(never_idle) + "require('gpubench.idle').before_first_point() print 'goes on'",
                          {"--wait-idle", "0.2"});
  EXPECT_EQ(ended.status, 0);
  EXPECT_THAT(ended.out, HasSubstr("goes on\n"));
  EXPECT_THAT(ended.err,
              HasSubstr("\nthe machine was not idle within 200 ms: other programs use 100 % of the processors, "
                        "the hypervisor takes 0 %. Measuring goes on; claims about times may stay open\n"));
}

TEST_F(ScriptRunner, AnErrorRowIsReportedAndExitsWithTwo) {
  const Ended ended = run(with_body("if point.n == 2 then error('broken') end"));
  EXPECT_EQ(ended.status, 2);
  EXPECT_THAT(ended.err, HasSubstr("n=2: error: script.lua:7: broken"));
  EXPECT_THAT(read(find("results.csv")), AllOf(HasSubstr("small,2,0,2,error"), HasSubstr("small,3,0,3,ok")));
  EXPECT_EQ(run(with_body("if point.n == 2 then gb.skip('why not') end")).status, 0);
}

TEST_F(ScriptRunner, AxesAreReplacedFromTheCommandLine) {
  EXPECT_THAT(run(with_body(""), {"--set", "n=7,9", "--dry-run"}).out,
              AllOf(HasSubstr("n=7\n"), HasSubstr("n=9\n"), HasSubstr("2 points of about")));
  EXPECT_EQ(find("results.csv"), "");
  EXPECT_THAT(run(with_body(""), {"--set", "n=many"}).err,
              StartsWith("script.lua:3: --set n=many: a number is expected"));
  EXPECT_THAT(run(with_body(""), {"--set", "m=1"}).err, HasSubstr("--set m: there is no such axis (axes: n)"));
}

TEST_F(ScriptRunner, ADryRunTellsWhatIsSkippedAndHowLongTheRestTakes) {
  const auto dry = [&](const std::string& skip, const std::string& more = {}) {
    std::string text = with_body("");
    text.replace(text.find("  run ="), 0, "  skip = function(point) " + skip + " end,\n" + more);
    return run(text, {"--dry-run", "--budget", "1.5"});
  };
  const std::string odd = "if point.n ~= 2 then return 'odd' end";
  EXPECT_EQ(dry(odd).out,
            "small: A small sweep\n   1  n=1  skipped: odd\n   2  n=2\n   3  n=3  skipped: odd\n"
            "1 point of about 2 s: 2 s; 2 skipped\n");
  EXPECT_THAT(dry("if point.n == 1 then gb.skip('one') end").out,
              AllOf(HasSubstr("n=1  skipped: one\n"), HasSubstr("2 points of about 2 s: 4 s; 1 skipped")));
  EXPECT_THAT(dry("", "  seconds = function(point, measurement_s) return point.n * measurement_s end,\n").out,
              HasSubstr("3 points of about 4 s: 12 s\n"));
  const Ended broken = dry("return point.m");
  EXPECT_EQ(broken.status, 2);
  EXPECT_THAT(broken.err, HasSubstr("point: there is no axis 'm' (axes: n)"));
}

TEST_F(ScriptRunner, ValuesThatAnAxisRefusesEndADryRunToo) {
  std::string text = with_body("");
  text.replace(text.find("{ 1, 2, 3 }"), 11, "{ 'a', 'b' }, { closed = true }");
  const Ended refused = run(text, {"--set", "n=c", "--dry-run"});
  EXPECT_EQ(refused.status, 2);
  EXPECT_EQ(refused.err, "script.lua:3: --set n=c: possible: a, b\n");
}

TEST_F(ScriptRunner, AnOutputFolderThatCannotBeWrittenIsAnError) {
  write("taken", "a file");
  const Ended ended = run(with_body(""), {"--out", "taken/below"});
  EXPECT_EQ(ended.status, 2);
  EXPECT_THAT(ended.err, AllOf(StartsWith("script.lua:3: "), HasSubstr("taken/below")));
}

TEST_F(ScriptRunner, NewWritesAScriptThatRuns) {
  const Ended made = run_program({"new", "my_question"}, path());
  EXPECT_EQ(made.out, "wrote my_question.lua; run it with: gpubench my_question.lua\n");
  EXPECT_THAT(read("my_question.lua"), HasSubstr("name  = \"my_question\""));
  EXPECT_EQ(run_program({"new", "my_question"}, path()).err, "new: my_question.lua is there already\n");
  EXPECT_THAT(run_program({"new", "a b"}, path()).err, HasSubstr("new: 'a b' cannot name an experiment"));
  const Ended ended = run_program({"my_question.lua", "--quick", "--set", "batch_size=32"}, path());
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_THAT(read(find("results.csv")), HasSubstr("my_question,1,0,ok,,"));
}

TEST_F(ScriptRunner, ListAndShow) {
  run_program({"new", "my_question"}, path());
  write("other.lua", "gb.experiment { title = 'It\\'s another' }");
  write("plain.lua", "print 'no experiment'");
  EXPECT_EQ(run_program({"list", "."}, path()).out,
            "./my_question.lua  A batch that is too small leaves the device idle\n./other.lua        It's another\n");
  EXPECT_EQ(run_program({"list", "nowhere"}, path()).err, "list: 'nowhere' is not a folder\n");

  EXPECT_EQ(run_program({"show"}, path()).out, "no runs below .\n");
  run(with_body(""));
  EXPECT_THAT(run_program({"show"}, path()).out, HasSubstr("done, 3 rows: A small sweep"));
  EXPECT_THAT(run_program({"show", "small"}, path()).out, HasSubstr("figure"));
  EXPECT_THAT(run_program({"show", "small", "--format", "csv"}, path()).out, StartsWith("experiment,point,process,n,"));
  EXPECT_THAT(run_program({"show", "small", "--format", "markdown"}, path()).out, HasSubstr("|"));
  EXPECT_THAT(run_program({"show", "small", "--format", "json"}, path()).out, HasSubstr("\"figure\""));
  const Ended missing = run_program({"show", "nothing"}, path());
  EXPECT_EQ(missing.status, 2);
  EXPECT_THAT(missing.err, HasSubstr("nothing"));
}

TEST_F(ScriptRunner, DevicesAreListed) {
  EXPECT_THAT(run_program({"devices"}, path()).out, StartsWith("cpu:0  "));
}

}  // namespace
}  // namespace gpubench
