#include "lua/host/interrupt_handler.h"

#include <csignal>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/lua/host/folder.h"

namespace gpubench {
namespace {

using ::testing::HasSubstr;

class SignalTest : public FolderTest {
 protected:
  void SetUp() override {
#if defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "the thread sanitizer holds signals back until the program calls the system";
#endif
  }
};

class InterruptTest : public SignalTest {
 protected:
  /// Ctrl-C after the script has printed "ready".
  Ended interrupt(const std::string& script) {
    write("script.lua", "local function ready() print('ready') io.stdout:flush() end\n" + script);
    StartedProgram program({"script.lua", "--budget", "100"}, path());
    EXPECT_TRUE(program.wait_for("ready"));
    program.signal(SIGINT);
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
