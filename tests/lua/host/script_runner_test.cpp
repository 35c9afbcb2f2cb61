#include "lua/host/script_runner.h"

#include <csignal>
#include <cstdlib>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/lua/host/folder.h"
#include "tests/lua/host/small_experiment.h"

namespace gpubench {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;
using ::testing::StartsWith;

using ScriptRunner = FolderTest;

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

TEST_F(ScriptRunner, PythonIsToldApart) {
  const std::string said = "is a Python program, and scripts here are Lua; gpubench watch -- python ";
  for (const std::string text : {"import tensorflow as tf\n", "import os, sys\n", "from torch import nn  # layers\n",
                                 "def main(epochs):\n  pass\n", "# a job\n\n\"\"\"Trains a net.\"\"\"\n",
                                 "class Net(nn.Module):\n", "@dataclass\n", "#!/usr/bin/env python3\nx = 1\n"}) {
    const Ended ended = run(text);
    EXPECT_EQ(ended.status, 2) << text;
    EXPECT_THAT(ended.err, StartsWith("gpubench: run: 'script.lua' " + said + "script.lua looks at it")) << text;
  }
  write("my job.py", "x = 1\n");
  EXPECT_THAT(run_program({"run", "my job.py"}, path()).err, HasSubstr(said + "'my job.py' looks at it"));
  for (const std::string text : {"-- import tensorflow\n", "import = 1\n", "from = { import = 1 }\n",
                                 "#!/usr/bin/env gpubench\n", "def = function() end\ndef()\n"})
    EXPECT_EQ(run(text).status, 0) << text;
  EXPECT_EQ(run("print(math.max(1, b=2))").err,
            "script.lua:1: ')' expected near '='; named arguments stand in a table: f(x, { name = value })\n");
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
      "gpubench: run: --restart-from kept: the script has trained nothing by model:fit with the option 'resume', so "
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
  EXPECT_THAT(finished.out,
              AllOf(HasSubstr(", died\n"), HasSubstr("\nreport: results/small/"), HasSubstr("report.html\n")));
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
  EXPECT_THAT(run_program({"show"}, path()).out, AllOf(HasSubstr("20260101T000000Z-x "), HasSubstr(" unreadable: ")));
}

TEST_F(ScriptRunner, AMissingScriptAndAnUnknownDevice) {
  EXPECT_EQ(run_program({"run", "none.lua"}, path()).err,
            "gpubench: no script, experiment or command 'none.lua'\nTry 'gpubench --help'.\n");
  const Ended device = run("", {"--device", "tpu:0"});
  EXPECT_EQ(device.status, 2);
  EXPECT_THAT(device.err, HasSubstr("tpu:0"));
}

TEST_F(ScriptRunner, PrintsTheTableTheVerdictsAndTheAnswer) {
  const Ended ended = run(with_body(""));
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_THAT(
      ended.out,
      AllOf(StartsWith("small: A small sweep\n"),
            HasSubstr("\n✗ refuted: figure_per_s rises with n\n    falls from 1/s to 0.5/s between n 1 and 2\n"),
            HasSubstr("\n0 confirmed, 0 open, 1 refuted\n\nanswer: Not so here: figure/s rises with n: "),
            MatchesRegex(".*\nreport: results/small/[^\n]*/report[.]html\n")));
  EXPECT_EQ(ended.err.find("\r"), std::string::npos) << "a progress line, though stderr is no terminal";
  EXPECT_EQ(run(with_body(""), {"--strict"}).status, 1);
}

TEST_F(ScriptRunner, AClaimThatStaysOpenIsNotConfirmedAndNoFailure) {
  const Ended ended =
      run(with_body("do return { figure_per_s = point.n, quality = 'unreliable: noise' } end"), {"--strict"});
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("? open: figure_per_s rises with n\n    3 of 3 rows unreliable: the times of 0 of "
                                   "12 rounds count, 6 are needed: "));
  EXPECT_THAT(read(find("run.json")), HasSubstr("\"verdict\": \"inconclusive\""));
}

/// A machine that is never idle.
constexpr const char* never_idle = R"(
local native = require "gpubench"._native
local wait = native.contention.wait_idle
native.contention.wait_idle = function(seconds)
  print "waits" io.stdout:flush()
  wait(seconds)
  return false, 'other programs use 100 % of the processors'
end
)";

TEST_F(ScriptRunner, TheWaitForAnIdleMachineEndsWithCtrlC) {
  write("script.lua", std::string(never_idle) + "require('gpubench.sweep.idle').before_first_point()");
  StartedProgram program({"script.lua", "--wait-idle", "86400"}, path());
  ASSERT_TRUE(program.wait_for("waits\nwaits\n"));
  program.signal(SIGINT);
  const Ended ended = program.end();
  EXPECT_EQ(ended.status, 128 + SIGINT);
  EXPECT_EQ(ended.err,
            "waiting for an idle machine, at most 24 h (--wait-idle): other programs use 100 % of the processors\n"
            "interrupted\n");
}

TEST_F(ScriptRunner, TheWaitForAnIdleMachineEndsWithThePointsTimeLimit) {
  const Ended ended = run(std::string(never_idle) + "print(native.protect(wait, 600))", {"--timeout", "0.1"});
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_THAT(ended.out, StartsWith("false\ttimeout\tnot done after 100 ms (--timeout)"));
}

TEST_F(ScriptRunner, AMachineThatIsNeverIdleIsMeasuredAllTheSame) {
  const Ended ended =
      run(std::string(never_idle) + "require('gpubench.sweep.idle').before_first_point() print 'goes on'",
          {"--wait-idle", "0.2"});
  EXPECT_EQ(ended.status, 0);
  EXPECT_THAT(ended.out, HasSubstr("goes on\n"));
  EXPECT_THAT(ended.err,
              HasSubstr("\nthe machine was not idle within 200 ms: other programs use 100 % of the processors. "
                        "Measuring goes on; claims about times may stay open\n"));
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
              AllOf(HasSubstr("n=7\n"), HasSubstr("n=9\n"), HasSubstr("2 points: ")));
  EXPECT_EQ(find("results.csv"), "");
  EXPECT_THAT(run(with_body(""), {"--set", "n=many"}).err,
              StartsWith("script.lua:3: --set n=many: a number is expected"));
  EXPECT_THAT(run(with_body(""), {"--set", "m=1"}).err, HasSubstr("--set m: there is no such axis (axes: n)"));
}

TEST_F(ScriptRunner, WhatIsAskedOfExperimentsNeedsOne) {
  const std::string start = "run: script.lua declares no experiment (gb.experiment): ";
  for (const auto& [option, reason] : std::initializer_list<std::pair<std::vector<std::string>, std::string>>{
           {{"--dry-run"}, "--dry-run has nothing to list\n"},
           {{"--set", "n=1"}, "--set n sets nothing\n"},
           {{"--require", "ok"}, "--require ok has nothing to judge\n"}}) {
    for (const char* script : {"print 'done'", "local gb = require 'gpubench' print(gb.version)"}) {
      const Ended ended = run(script, option);
      EXPECT_EQ(ended.status, 2);
      EXPECT_EQ(ended.err, start + reason);
    }
  }
  EXPECT_EQ(run("print 'done'").status, 0);
}

TEST_F(ScriptRunner, TheExitStatusSaysWhetherThereIsSomethingToJudge) {
  const std::string skips = with_body("gb.skip('not here')");
  const Ended nothing = run(skips, {"--strict"});
  EXPECT_EQ(nothing.status, 3);
  EXPECT_EQ(nothing.err,
            "small: no point was measured: 3 rows skipped (the first at n=1: not here); run it where the script does "
            "not skip them (exit status 3)\n");
  const std::string late = with_body("if point.n == 2 then while true do end end");
  EXPECT_EQ(run(late, {"--timeout", "0.2"}).status, 0);
  const Ended required = run(late, {"--timeout", "0.2", "--require", "ok", "--strict"});
  EXPECT_EQ(required.status, 3);
  EXPECT_THAT(
      required.err,
      HasSubstr("small: --require ok does not hold: 1 row of 3 not ok (the first at n=2); give more time with"));
  const std::string noisy = with_body("do return { figure_per_s = 1, quality = 'unreliable: noise' } end");
  EXPECT_EQ(run(noisy, {"--require", "ok"}).status, 0);
  EXPECT_EQ(run(noisy, {"--require", "reliable"}).status, 3);
  const Ended refuted = run(with_body(""), {"--strict", "--require", "ok"});
  EXPECT_EQ(refuted.status, 1);
  EXPECT_EQ(refuted.err,
            "small: 1 claim of 1 refuted (figure_per_s rises with n); see the report, or run without "
            "--strict (exit status 1)\n");
  // Over several experiments, the most important: an error, then nothing to judge, then a refuted claim.
  const auto also = [](const std::string& body) {
    return "require('gpubench').experiment { name = 'other', title = 'O', run = function() " + body + " end }";
  };
  EXPECT_EQ(run(with_body("") + also("require('gpubench').skip 'no'"), {"--strict"}).status, 3);
  EXPECT_EQ(run(skips + also("return { a = 1 }")).status, 3);
  EXPECT_EQ(run(skips + also("error 'broken'")).status, 2);
}

TEST_F(ScriptRunner, ADeviceThatIsRequiredIsThereBeforeAnythingIsMeasured) {
  const Ended missing = run(with_body("print 'measured'"), {"--require", "device=cpu:7"});
  EXPECT_EQ(missing.status, 3);
  EXPECT_EQ(missing.out, "");
  EXPECT_EQ(missing.err, "script.lua:3: --require device=cpu:7: there is no cpu:7 (devices: cpu:0)\n");
  EXPECT_EQ(run(with_body(""), {"--require", "device=cpu:7", "--dry-run"}).status, 3);
  // A script cannot go on as if nothing had been required.
  const std::string caught = "pcall(require('gpubench').experiment, { name = 'n', title = 't', run = print })";
  EXPECT_EQ(run(caught, {"--require", "device=cpu:7"}).status, 3);
  const Ended idle = run(with_body(""), {"--require", "device=cpu:0"});
  EXPECT_EQ(idle.status, 3);
  EXPECT_THAT(idle.err, HasSubstr("--require device=cpu:0 does not hold: no row with status ok has the device cpu:0"));
  EXPECT_EQ(run(with_body("do return { device = 'cpu:0', figure_per_s = point.n } end"), {"--require", "device=cpu:0"})
                .status,
            0);
}

TEST_F(ScriptRunner, AnOutputFolderThatCannotBeWrittenIsAnError) {
  write("taken", "a file");
  const Ended ended = run(with_body(""), {"--out", "taken/below"});
  EXPECT_EQ(ended.status, 2);
  EXPECT_THAT(ended.err, AllOf(StartsWith("script.lua:3: "), HasSubstr("taken/below")));
}

TEST_F(ScriptRunner, NewWritesAScriptThatRuns) {
  const Ended made = run_program({"new", "my_question"}, path());
  EXPECT_THAT(made.out,
              AllOf(StartsWith("wrote my_question.lua\nwrote .luarc.json\nnext:\n"),
                    HasSubstr("  gpubench my_question.lua --dry-run "), HasSubstr("gpubench help measure.training")));
  EXPECT_THAT(read(".luarc.json"), HasSubstr("/lua/meta\""));
  EXPECT_THAT(read("my_question.lua"), HasSubstr("name  = \"my_question\""));
  EXPECT_EQ(run_program({"new", "my_question"}, path()).err, "new: my_question.lua is there already\n");
  EXPECT_THAT(run_program({"new", "a b"}, path()).err, HasSubstr("new: 'a b' cannot name an experiment"));
  const Ended ended = run_program({"my_question.lua", "--quick", "--set", "batch_size=32"}, path());
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_THAT(read(find("results.csv")), HasSubstr("my_question,1,0,ok,"));
}

TEST_F(ScriptRunner, NewKnowsKindsOfQuestions) {
  for (const std::string kind : {"training", "fit", "loop", "pipeline", "inference", "compare"}) {
    const Ended made = run_program({"new", "my_" + kind, "--kind", kind}, path());
    EXPECT_EQ(made.status, 0) << made.err;
    EXPECT_EQ(made.out.find("wrote .luarc.json") != std::string::npos, kind == "training") << "it is written once";
    if (kind == "training") continue;  // run above
    const Ended run = run_program({"my_" + kind + ".lua", "--quick", "--budget", "0.05"}, path());
    EXPECT_EQ(run.status, 0) << kind << ": " << run.err;
  }
}

TEST_F(ScriptRunner, ListAndShow) {
  run_program({"new", "my_question"}, path());
  write("other.lua", "gb.experiment { title = 'It\\'s another' }");
  write("plain.lua", "print 'no experiment'");
  EXPECT_EQ(run_program({"list", "."}, path()).out,
            "other\n  ./my_question.lua  What do you want to know?\n  ./other.lua        It's another\n");
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
