#include "lua/host/interrupt_handler.h"

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <sys/wait.h>
#include <utility>

#include "core/base/interrupt.h"
#include "core/base/watchdog.h"
#include "lua/bind/machine.h"
#include "tests/lua/host/folder.h"

namespace gpubench {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class SignalTest : public FolderTest {
 protected:
  void SetUp() override {
#if defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "the thread sanitizer holds signals back until the program calls the system";
#endif
  }
};

TEST_F(SignalTest, OfTheProgramItselfThatComesAfterTheScriptsEndDoesNothing) {
  Watchdog watchdog(std::chrono::seconds(600), [] {});
  lua::InterruptHandler handler(watchdog);
  lua::State state;
  handler.attach(lua::Machine::of(state));
  sigset_t interrupts, before;
  sigemptyset(&interrupts);
  sigaddset(&interrupts, SIGINT);
  pthread_sigmask(SIG_BLOCK, &interrupts, &before);
  lua::InterruptHandler::stop_script();
  handler.detach();
  pthread_sigmask(SIG_SETMASK, &before, nullptr);  // it comes now, and would end this process
  EXPECT_FALSE(interrupt_requested());
}

class InterruptTest : public SignalTest {
 protected:
  /// Ctrl-C, or another signal, after the script has printed "ready".
  Ended interrupt(const std::string& script, int signal = SIGINT) {
    write("script.lua", "local function ready() print('ready') io.stdout:flush() end\n" + script);
    StartedProgram program({"script.lua", "--budget", "100"}, path());
    EXPECT_TRUE(program.wait_for("ready"));
    program.signal(signal);
    return program.end();
  }
};

TEST_F(InterruptTest, EndsABusyLoop) {
  const Ended ended = interrupt("ready() while true do end");
  EXPECT_EQ(ended.status, 130);
  EXPECT_EQ(ended.err, "interrupted\n");
}

TEST_F(InterruptTest, PassesThroughProtectedCalls) {
  EXPECT_EQ(interrupt("while true do pcall(function() ready() while true do end end) end").status, 130);
  EXPECT_EQ(interrupt("while true do xpcall(function() ready() while true do end end, print) end").status, 130);
  EXPECT_EQ(interrupt("ready() while true do pcall(error, 'x') end").status, 130);
}

TEST_F(InterruptTest, PassesThroughCoroutines) {
  EXPECT_EQ(interrupt("coroutine.wrap(function() ready() while true do end end)()").status, 130);
  EXPECT_EQ(interrupt("local co = coroutine.create(function() while true do coroutine.yield() end end)\n"
                      "ready() while true do coroutine.resume(co) end")
                .status,
            130);
}

/// Three points, of which the third never ends.
constexpr const char* judged_sweep = R"(
local gb = require "gpubench"
gb.experiment {
  name = "stopped", title = "Stopped in the middle",
  axes = { gb.axis("n", { 1, 2, 3 }) },
  run = function(point)
    if point.n == 3 then ready() while true do end end
    return { held_bytes = 10 - point.n, peak_memory_bytes = 10 * point.n }  -- which no load disturbs
  end,
  expect = {
    gb.expect.increasing { x = "n", y = "held_bytes" },
    gb.expect.increasing { x = "n", y = "peak_memory_bytes" },
    gb.expect.at_least { y = "peak_memory_bytes", value = 10, where = { n = 1 }, answer = "it holds {of}" },
    gb.expect.that { claim = "by hand", judge = function(rows)
      local sum = 0
      for i = 1, 1000000 do sum = sum + i end
      return "refuted", #rows .. " rows"
    end },
    gb.expect.that { claim = "odd", judge = function() error "broken" end },
  },
  answer = ANSWER,
}
)";

std::string judged_with(const std::string& answer) {
  std::string text = judged_sweep;
  return text.replace(text.find("ANSWER"), 6, answer);
}

TEST_F(InterruptTest, ClaimsAreJudgedOnWhatWasMeasuredAndTheAnswerRuns) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    const Ended ended = interrupt(judged_with("function(rows) return 'saw ' .. #rows .. ' rows' end"), signal);
    EXPECT_EQ(ended.status, 128 + signal);
    const std::string info = read(find("run.json"));
    EXPECT_THAT(info, AllOf(HasSubstr("falls from 9 B to 8 B between n 1 and 2"), HasSubstr("\"verdict\": \"refuted\""),
                            HasSubstr("1 point was not measured; so far: rises from 10 B to 20 B"),
                            HasSubstr("\"2 rows\""), HasSubstr("\"saw 2 rows\""), HasSubstr("judging failed: "),
                            HasSubstr("broken"), HasSubstr("\"status\": \"interrupted\"")));
    EXPECT_THAT(info, HasSubstr("\"confirmed\"")) << "the claim about n = 1, which was measured";
    EXPECT_THAT(info, Not(HasSubstr("failed: interrupted")));
    EXPECT_THAT(ended.out, HasSubstr("refuted"));
    std::filesystem::remove_all(file("results"));
  }
}

TEST_F(InterruptTest, AnAnswerThatDoesNotEndIsStopped) {
  const Ended ended =
      interrupt(judged_with("function() while true do pcall(function() while true do end end) end end"));
  EXPECT_EQ(ended.status, 130);
  EXPECT_THAT(ended.err, HasSubstr("the function 'answer' failed: not done 5 s after the request to stop"));
  EXPECT_THAT(read(find("run.json")), HasSubstr("falls from 9 B to 8 B"));
}

constexpr const char* sweep = R"(
local gb = require "gpubench"
gb.experiment {
  name = "stopped", title = "Stopped in the middle",
  axes = { gb.axis("n", { 1, 2, 3 }) },
  run = function(point)
    if point.n == 2 then
      ready()
      LOOP
    end
    return { figure = point.n }
  end,
}
print("not reached")
)";

std::string sweep_with(const std::string& loop) {
  std::string text = sweep;
  return text.replace(text.find("LOOP"), 4, loop);
}

TEST_F(InterruptTest, FinishedRowsStay) {
  const Ended ended = interrupt(sweep_with("while true do pcall(function() while true do end end) end"));
  EXPECT_EQ(ended.status, 130);
  EXPECT_EQ(ended.out.find("not reached"), std::string::npos);
  EXPECT_THAT(read(find("results.csv")), HasSubstr("stopped,1,0,1,ok"));
  EXPECT_THAT(read(find("run.json")), HasSubstr("\"interrupted\""));
  EXPECT_TRUE(std::filesystem::exists(find("report.html")));
}

TEST_F(InterruptTest, SignalsThatComeTogetherAreOneRequest) {
  write("script.lua",
        "local function ready() print('ready') io.stdout:flush() end\n" + sweep_with("while true do end"));
  StartedProgram program({"script.lua"}, path());
  ASSERT_TRUE(program.wait_for("ready"));
  program.signal(SIGTERM);
  program.signal(SIGTERM);
  EXPECT_EQ(program.end().status, 143);
  EXPECT_THAT(read(find("run.json")), HasSubstr("\"interrupted\""));
}

TEST_F(InterruptTest, EndsALoopOfSteps) {
  const Ended ended =
      interrupt(sweep_with("local f = gb.compile(function(x) return x + 1 end)\n"
                           "local x = gb.ones { 8 } while true do x = f(x) end"));
  EXPECT_EQ(ended.status, 130);
  EXPECT_THAT(read(find("results.csv")), HasSubstr("stopped,1,0,1,ok"));
}

TEST_F(InterruptTest, EndsATraining) {
  const Ended ended = interrupt(sweep_with(
      "local model = gb.Sequential { gb.layers.Dense(10, { activation = 'softmax', input_shape = { 784 } }) }\n"
      "model:compile { optimizer = 'sgd', loss = 'categorical_crossentropy' }\n"
      "return gb.measure.training(model, gb.datasets.mnist('train'):batch(32))"));
  EXPECT_EQ(ended.status, 130);
  EXPECT_THAT(read(find("results.csv")), HasSubstr("stopped,1,0,1,ok"));
}

TEST_F(InterruptTest, LeavesTheStackOfAProductAlone) {
  for (int attempt = 0; attempt < 8; ++attempt) {
    EXPECT_EQ(interrupt("local gb = require 'gpubench'\n"
                        "local x = gb.random.normal { 512, 512 } local y = x:matmul(x) ready()\n"
                        "while true do y = x:matmul(x) end")
                  .status,
              130);
  }
}

// Code in which Lua looks at nothing: pattern matching, a finalizer, the read of a file without an end.
const std::string endless_match = "string.find(('a'):rep(40), ('a-'):rep(30) .. 'b')";
const std::string endless_finalizer = "setmetatable({}, { __gc = function() while true do end end }) collectgarbage()";
const std::string endless_file = "io.open('/dev/zero'):read('l')";
const std::string endless_worker = "local f = gb.data.lua_function(function(x) return " + endless_match +
                                   " end, { output = { 'int64' } })\n"
                                   "for _ in gb.data.Dataset.range(4):map(f, { num_parallel_calls = 2 }):iter() do end";

TEST_F(InterruptTest, EndsWhatLuaCannotInterrupt) {
  for (const std::string& endless : {endless_match, endless_finalizer, endless_file}) {
    const Ended ended = interrupt("ready() " + endless);
    EXPECT_EQ(ended.status, 130) << endless;
    EXPECT_EQ(ended.out, "ready\n") << endless;
    EXPECT_EQ(ended.err, "interrupted\n") << endless;
  }
}

TEST_F(InterruptTest, FinishesTheRunOfWhatLuaCannotInterrupt) {
  const Ended ended = interrupt(sweep_with(endless_match));
  EXPECT_EQ(ended.status, 130);
  EXPECT_THAT(read(find("results.csv")), AllOf(HasSubstr("stopped,1,0,1,ok"), Not(HasSubstr("stopped,2"))));
  EXPECT_THAT(read(find("run.json")), HasSubstr("\"status\": \"interrupted\""));
  EXPECT_TRUE(std::filesystem::exists(find("report.html")));
}

TEST_F(InterruptTest, EndsFinalizersThatRunAtTheEnd) {
  const Ended ended = interrupt(
      "local gb = require 'gpubench'\n"
      "setmetatable({}, { __gc = function() while true do end end }) ready() while true do end");
  EXPECT_EQ(ended.status, 130);
}

TEST_F(InterruptTest, OtherSignalsEndLikeCtrlC) {
  for (const auto& [signal, name] : {std::pair{SIGTERM, "SIGTERM"}, {SIGHUP, "SIGHUP"}}) {
    const Ended ended = interrupt(sweep_with("while true do end"), signal);
    EXPECT_EQ(ended.status, 128 + signal);
    EXPECT_EQ(ended.err, std::string("interrupted by ") + name + "\n");
    EXPECT_THAT(read(find("results.csv")), HasSubstr("stopped,1,0,1,ok"));
    EXPECT_THAT(read(find("run.json")), AllOf(HasSubstr("\"status\": \"interrupted\""),
                                              HasSubstr(std::string("\"detail\": \"stopped by ") + name + "\"")));
    EXPECT_TRUE(std::filesystem::exists(find("report.html")));
    std::filesystem::remove_all(file("results"));
  }
}

TEST_F(InterruptTest, AFileThatMayNotGrowEndsTheRunWithItsFilesWhole) {
  write("script.lua", "local function ready() end\n" +
                          sweep_with("local f = io.open('results/large', 'w') f:write(('x'):rep(1 << 20)) f:flush()"));
  const std::string command = "cd " + path() + " && (ulimit -f 100; \"" GPUBENCH_PROGRAM "\" script.lua 2> error)";
  EXPECT_EQ(WEXITSTATUS(std::system(("bash -c '" + command + "'").c_str())), 128 + SIGXFSZ);
  EXPECT_EQ(read("error"),
            "interrupted by SIGXFSZ: a file would become larger than this process may write (ulimit -f)\n");
  EXPECT_THAT(read(find("results.csv")), HasSubstr("stopped,1,0,1,ok"));
  EXPECT_THAT(read(find("run.json")), HasSubstr("stopped by SIGXFSZ"));
  EXPECT_TRUE(std::filesystem::exists(find("report.html")));
}

TEST_F(InterruptTest, ARunStartedByNohupOutlivesItsTerminal) {
  write("script.lua", "os.execute('kill -HUP $PPID') print 'still here'");
  const std::string command =
      "cd " + path() + " && trap \"\" HUP && \"" GPUBENCH_PROGRAM "\" script.lua --trusted > out";
  EXPECT_EQ(WEXITSTATUS(std::system(("bash -c '" + command + "'").c_str())), 0);
  EXPECT_EQ(read("out"), "still here\n");
}

TEST_F(InterruptTest, OneThatComesBetweenTwoPointsEndsTheSweep) {
  const Ended ended = run(R"(
local gb = require "gpubench"
gb.experiment { name = "stopped", title = "Stopped", axes = { gb.axis("n", { 1, 2, 3 }) },
  run = function(point)
    collectgarbage "stop"  -- until the program collects, behind the point
    if point.n == 2 then setmetatable({}, { __gc = function() os.execute "kill -TERM $PPID" end }) end
    return { figure = point.n }
  end }
print "not reached")",
                          {"--trusted"});
  EXPECT_EQ(ended.status, 128 + SIGTERM);
  EXPECT_THAT(ended.out, Not(HasSubstr("not reached")));
  EXPECT_THAT(read(find("results.csv")), AllOf(HasSubstr("stopped,2,0,2,ok"), Not(HasSubstr("stopped,3"))));
  EXPECT_THAT(read(find("run.json")), HasSubstr("\"interrupted\""));
}

/// The sweep's second point never ends; --timeout ends it.
class TimeoutTest : public SignalTest {
 protected:
  Ended time_out(const std::string& loop) {
    write("script.lua", "local function ready() end\n" + sweep_with(loop));
    return StartedProgram({"script.lua", "--budget", "100", "--timeout", "0.2"}, path()).end();
  }
  void expect_one_row(const Ended& ended) {
    EXPECT_EQ(ended.status, 0) << ended.err;
    EXPECT_EQ(ended.err, "n=2: timeout: not done after 200 ms (--timeout)\n");
    EXPECT_THAT(ended.out, HasSubstr("not reached")) << "the script goes on after its sweep";
    const std::string rows = read(find("results.csv"));
    EXPECT_THAT(rows, HasSubstr("stopped,1,0,1,ok"));
    EXPECT_THAT(rows, HasSubstr("stopped,2,0,2,timeout,not done after 200 ms (--timeout)"));
    EXPECT_THAT(rows, HasSubstr("stopped,3,0,3,ok"));
    EXPECT_THAT(read(find("run.json")), HasSubstr("\"done\""));
  }
};

TEST_F(TimeoutTest, EndsALuaLoopWhateverItCatches) {
  expect_one_row(time_out("while true do pcall(function() while true do end end) end"));
}

TEST_F(TimeoutTest, EndsALoopOfSteps) {
  expect_one_row(
      time_out("local f = gb.compile(function(x) return x + 1 end)\n"
               "local x = gb.ones { 8 } while true do x = f(x) end"));
}

TEST_F(TimeoutTest, EndsTheHandlerOfAnError) {
  expect_one_row(time_out("xpcall(error, function() while true do end end)"));
}

TEST_F(TimeoutTest, EndsTheProgramWhereLuaCannotBeInterrupted) {
  const std::string why = "not done after 200 ms (--timeout), and could not be stopped";
  for (const std::string& endless : {endless_match, endless_finalizer, endless_file, endless_worker}) {
    const Ended ended = time_out(endless);
    EXPECT_EQ(ended.status, 2) << endless;
    EXPECT_EQ(ended.err,
              "n=2: timeout: " + why + "\ngpubench: run: the script could not be stopped when its time was up\n");
    EXPECT_THAT(read(find("results.csv")),
                AllOf(HasSubstr("stopped,1,0,1,ok"), HasSubstr("stopped,2,0,2,timeout,\"" + why + "\""),
                      Not(HasSubstr("stopped,3"))))
        << endless;
    EXPECT_THAT(read(find("run.json")), AllOf(HasSubstr("\"status\": \"error\""), HasSubstr("could not be stopped")));
    EXPECT_TRUE(std::filesystem::exists(find("report.html")));
    EXPECT_TRUE(std::filesystem::exists(find("index.html")));
    std::filesystem::remove_all(file("results"));
  }
}

TEST_F(TimeoutTest, EndsFinalizersThatRunAtTheEnd) {
  write("script.lua", "setmetatable({}, { __gc = function() while true do end end }) print 'done'");
  const Ended ended = StartedProgram({"script.lua", "--timeout", "0.2"}, path()).end();
  EXPECT_EQ(ended.status, 2);
  EXPECT_EQ(ended.out, "done\n");
}

TEST_F(InterruptTest, TheSecondOneKills) {
  write("script.lua",
        "print('ready') io.stdout:flush() string.rep('a', 1 << 22):find(string.rep('a?', 1 << 12) .. 'b')");
  StartedProgram program({"script.lua"}, path());
  ASSERT_TRUE(program.wait_for("ready"));
  const int status = program.signal_until_end(SIGINT).status;
  EXPECT_EQ(status, 128 + SIGINT);
}

}  // namespace
}  // namespace gpubench
