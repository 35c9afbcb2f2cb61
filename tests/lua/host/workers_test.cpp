// Many processes, as a user starts them, and what becomes of a run when one of them goes.
#include "lua/host/workers.h"

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <iterator>
#include <regex>
#include <sstream>
#include <thread>

#include "tests/lua/host/workers.h"

namespace gpubench {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;
using ::testing::StartsWith;

const std::string workers_sweep = R"(
local gb = require "gpubench"
local index, count = gb.distribute.process_index(), gb.distribute.num_processes()
gb.experiment {
  name = "together", title = "Together",
  axes = { gb.axis("n", { 1, 2, 3 }) },
  run = function(point)
    BODY
    return { index = index, count = count, samples = { 1.5, 2.5 + index } }
  end,
}
)";

std::string workers_script(const std::string& body) {
  std::string text = workers_sweep;
  return text.replace(text.find("BODY"), 4, body);
}

/// Starts it, waits for point 2, and signals process `rank`.
class EndlessRun {
 public:
  EndlessRun(const std::string& folder, int rank, int signal, const std::vector<std::string>& options = {})
      : program_(arguments(options), folder) {
    program_.wait_for("processes: ");
    program_.wait_for("started\n");
    const Ended& so_far = program_.so_far();
    std::smatch match;
    const std::regex pattern(fmt::format("process {} \\([^,]*, pid ([0-9]+)\\)", rank));
    if (!std::regex_search(so_far.out, match, pattern)) {  // 0 would be all processes of the test
      ADD_FAILURE() << "process " << rank << " did not come: " << so_far.out << so_far.err;
      return;
    }
    process_ = std::stoi(match[1]);
    kill(process_, signal);
  }
  ~EndlessRun() {
    if (process_ > 0) kill(process_, SIGCONT), kill(process_, SIGKILL);
  }
  Ended end() { return program_.end(); }
  pid_t process() const { return process_; }

 private:
  static std::vector<std::string> arguments(const std::vector<std::string>& options) {
    std::vector<std::string> all{"script.lua", "--workers", "2", "--quick"};
    all.insert(all.end(), options.begin(), options.end());
    return all;
  }
  StartedProgram program_;
  pid_t process_ = 0;
};

const std::string announced = workers_script(
    "if point.n == 2 then if index == 0 then print 'started' io.stdout:flush() end while true do end end");

TEST_F(Workers, WriteOneRunWithTheRowsAndSamplesOfAll) {
  const Ended ended = run_with(2, workers_sweep + "print(index)");
  EXPECT_EQ(ended.status, 2) << "BODY is no Lua";
  const Ended good = run_with(2, workers_script("") + "print('index', index)", {"--out", "out"});
  EXPECT_EQ(good.status, 0) << good.err;
  EXPECT_EQ(good.err, "");
  EXPECT_THAT(good.out,
              AllOf(StartsWith("2 processes: process 0 ("), HasSubstr("index\t0\n"), Not(HasSubstr("index\t1"))));
  const std::string rows = read(find("results.csv"));
  EXPECT_THAT(rows,
              AllOf(HasSubstr("together,1,0,1,ok"), HasSubstr("together,1,1,1,ok"), HasSubstr("together,3,1,3,ok")));
  EXPECT_THAT(read(find("samples.csv")), AllOf(HasSubstr("2,0,1,2,2.5\r\n"), HasSubstr("2,1,1,2,3.5\r\n")));
  EXPECT_THAT(read(find("run.json")), HasSubstr("process 1 ("));
}

TEST_F(Workers, WaitTogetherUntilTheMachineOfEachIsIdle) {
  const std::string busy_once = R"(
local native = require "gpubench"._native
local index, looks = require "gpubench".distribute.process_index(), 0
native.contention.wait_idle = function()
  looks = looks + 1
  local busy = index == 1 and looks == 1
  return not busy, busy and 'other programs use 50 % of the processors' or 'idle'
end
require "gpubench.sweep.idle".before_first_point()
print("looks", native.processes.gather(looks)[1], native.processes.gather(looks)[2])
)";
  const Ended ended = run_with(2, busy_once, {"--wait-idle", "60"});
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_EQ(ended.out, "looks\t2\t2\n");
  EXPECT_THAT(ended.err, AllOf(HasSubstr("waiting for an idle machine, at most 1 min (--wait-idle): where process 1 ("),
                               HasSubstr(") runs, other programs use 50 % of the processors\n"),
                               HasSubstr("\nthe machine is idle after ")));
}

TEST_F(Workers, ClaimsAreAboutTheMeansOfAll) {
  const Ended ended = run_with(2, R"(
local gb = require "gpubench"
local index = gb.distribute.process_index()
gb.experiment {
  name = "means", title = "Means",
  axes = { gb.axis("n", { 1, 2, 3 }) },
  columns = { gb.column("figure", { kind = "counted" }) },
  run = function(point) return { figure = index == 0 and 4.5 - point.n or 2.0 * point.n } end,
  expect = { gb.expect.increasing { x = "n", y = "figure" } },
})");
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("\n✓ confirmed: "));
}

TEST_F(Workers, DivideTheThreads) {
  const Ended ended = run_with(2, workers_script(""), {"--threads", "5"});
  EXPECT_THAT(ended.out, AllOf(HasSubstr(") with 3 threads, process 1 ("), HasSubstr(") with 2 threads\n")));
}

TEST_F(Workers, APointThatFailsInOneFailsInAllAndTheSweepGoesOn) {
  const Ended ended = run_with(3, workers_script("if point.n == 2 and index == 1 then error('odd') end"));
  EXPECT_EQ(ended.status, 2);
  EXPECT_THAT(ended.err, MatchesRegex("n=2: error: process 1 \\(.*, pid [0-9]+\\): script.lua:8: odd\n"
                                      "together: 3 rows of 9 with status error .*\\(exit status 2\\)\n"));
  const std::string rows = read(find("results.csv"));
  EXPECT_THAT(rows, AllOf(HasSubstr("together,2,0,2,error,\"process 1 ("),
                          HasSubstr("together,2,2,2,error,\"process 1 ("), HasSubstr("together,3,2,3,ok")));
}

TEST_F(Workers, AnErrorOfTheScriptEndsAllAndIsToldOnce) {
  const Ended all = run_with(3, "\nerror('odd')");
  EXPECT_EQ(all.status, 2);
  // Another process may come to the error before process 0, which is stopped then and names it.
  EXPECT_THAT(all.err, MatchesRegex("(gpubench: process [12] \\([^\n]*\\) failed: )?script[.]lua:2: odd\n"));
  const Ended one = run_with(2, workers_script("") + "\nif index == 1 then error('odd') end\n" +
                                    "gb.experiment { name = 'after', title = 'A', run = function() return {} end }");
  EXPECT_EQ(one.status, 2);
  EXPECT_THAT(one.err, AllOf(HasSubstr("process 1 ("), HasSubstr("failed: script.lua:13: odd")));
}

TEST_F(Workers, TrainTogether) {
  const Ended ended = run_with(2, R"(
local gb = require "gpubench"
gb.experiment {
  name = "trained", title = "Trained", axes = { gb.axis("batch_size", { 32 }) },
  run = function(point)
    local strategy = gb.distribute.MultiWorkerMirroredStrategy()
    local model = strategy:scope(function()
      local model = gb.Sequential { gb.layers.Dense(16, { input_shape = { 8 } }), gb.layers.Dense(2) }
      model:compile { optimizer = "sgd", loss = "mse" }
      return model
    end)
    local data = gb.data.Dataset.from_tensor_slices { gb.ones { 128, 8 }, gb.ones { 128, 2 } }
    return gb.measure.training(model, data:batch(point.batch_size))
  end,
})");
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_THAT(read(find("results.csv")), AllOf(HasSubstr("trained,1,0,ok"), HasSubstr("trained,1,1,ok")));
}

TEST_F(Workers, ALoopWrittenByHandIsMeasuredWithTheReplicasOfAll) {
  const Ended ended = run_with(2, R"(
local gb = require "gpubench"
local strategy = gb.distribute.MultiWorkerMirroredStrategy { devices = { "cpu:0" } }
local model = strategy:scope(function()
  return gb.Sequential { gb.layers.Dense(16, { input_shape = { 8 } }), gb.layers.Dense(2) }
end)
local optimizer, loss_function = gb.optimizers.SGD(), gb.losses.MeanSquaredError()
local function step(x, y)
  local tape <close> = gb.tape()
  local loss = loss_function(y, model(x, { training = true }))
  optimizer:apply_gradients(tape:gradient(loss, model.trainable_variables), model.trainable_variables)
  return loss
end
local data = gb.data.Dataset.from_tensor_slices { gb.ones { 128, 8 }, gb.ones { 128, 2 } }
local row = gb.measure.loop(function(x, y) return strategy:reduce("mean", strategy:run(step, x, y)) end,
  strategy:distribute(data:batch(32)), { budget = 0.1, min_time = 0.02 })
assert(row.device:find("^cpu:0 of process 0 .* cpu:0 of process 1 "), row.device)
if gb.distribute.process_index() == 0 then
  print(row.replicas, row.batch_size, row.exchanges, row.exchange_bytes, #row.ranks, row.ranks[2].exchange_s > 0,
    row.peer_wait_share >= 0)
end
)");
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_EQ(ended.out, "2\t32\t1.0\t712.0\t2\ttrue\ttrue\n");
}

/// Trains for 30 steps; process 1 is gone at the 14th where `breaks`.
std::string training(const std::string& file, bool breaks) {
  return fmt::format(R"(
local gb = require "gpubench"
local index, batches = gb.distribute.process_index(), 0
gb.config.set_seed(3)
local strategy = gb.distribute.MultiWorkerMirroredStrategy()
local model = strategy:scope(function()
  local model = gb.Sequential {{
    gb.layers.Dense(32, {{ activation = "relu", input_shape = {{ 784 }} }}), gb.layers.Dense(10, {{ activation = "softmax" }}),
  }}
  model:compile {{
    optimizer = gb.optimizers.SGD {{ learning_rate = 0.05, momentum = 0.9 }}, loss = "categorical_crossentropy",
  }}
  return model
end)
local function leave()
  batches = batches + 1
  if {} and batches == 14 and index == 1 then error("gone", 0) end
end
model:fit(gb.datasets.mnist("train"):take(600):batch(60), {{
  epochs = 3, verbose = 0, resume = "results/{}", save_steps = 1, callbacks = {{ {{ on_batch_end = leave }} }},
}})
for _, weight in ipairs(model:get_weights()) do print(weight:abs():sum():item(), (weight * weight):sum():item()) end
)",
                     breaks, file);
}

std::vector<double> numbers_in(const std::string& text) {
  std::istringstream in(text);
  return {std::istream_iterator<double>(in), {}};
}

TEST_F(Workers, ATrainingGoesOnInAnotherNumberOfProcesses) {
  std::filesystem::create_directories(file("results"));
  const Ended whole = run_with(2, training("whole.safetensors", false));
  ASSERT_EQ(whole.status, 0) << whole.err;
  const std::vector<double> expected = numbers_in(whole.out);
  ASSERT_EQ(expected.size(), 8);
  const Ended broken = run_with(2, training("broken.safetensors", true));
  EXPECT_EQ(broken.status, 2);
  EXPECT_THAT(broken.err, MatchesRegex("gpubench: process 1 \\(.*\\) failed: gone\n"));
  for (const int workers : {1, 3}) {
    const std::string next = fmt::format("next{}.safetensors", workers);
    const Ended ended = run_with(workers, training(next, false), {"--restart-from", "results/broken.safetensors"});
    EXPECT_EQ(ended.status, 0) << ended.err;
    EXPECT_THAT(numbers_in(ended.out), ::testing::Pointwise(::testing::DoubleNear(1e-3), expected)) << workers;
  }
}

TEST_F(Workers, AKilledProcessEndsTheRunAndRowsAreKept) {
  write("script.lua", announced);
  EndlessRun run(path(), 1, SIGKILL);
  const Ended ended = run.end();
  EXPECT_EQ(ended.status, 2);
  EXPECT_THAT(ended.err, HasSubstr(fmt::format("pid {}) was lost: its process has ended", run.process())));
  EXPECT_THAT(ended.err, HasSubstr("the processes of this run are no longer complete: 1 point not measured"));
  EXPECT_THAT(read(find("results.csv")), AllOf(HasSubstr("together,1,1,1,ok"), HasSubstr("together,2,0,2,error")));
}

TEST_F(Workers, ThatAreToldToEndKeepTheirRows) {
  write("script.lua", announced);
  StartedProgram program({"script.lua", "--workers", "2", "--quick"}, path());
  program.wait_for("started\n");
  program.signal(SIGTERM);
  const Ended ended = program.end();
  EXPECT_EQ(ended.status, 128 + SIGTERM);
  EXPECT_EQ(ended.err, "interrupted\n");
  EXPECT_THAT(read(find("results.csv")), AllOf(HasSubstr("together,1,1,1,ok"), Not(HasSubstr("together,2,"))));
  EXPECT_THAT(read(find("run.json")), HasSubstr("\"status\": \"interrupted\""));
}

TEST_F(Workers, WhoseTerminalIsClosedKeepTheirRows) {
  write("script.lua", announced);
  StartedProgram program({"script.lua", "--workers", "2", "--quick"}, path());
  program.wait_for("started\n");
  program.signal(SIGHUP);
  const Ended ended = program.end();
  EXPECT_EQ(ended.status, 128 + SIGHUP);
  EXPECT_EQ(ended.err, "interrupted by SIGHUP\n");
  EXPECT_THAT(read(find("results.csv")), HasSubstr("together,1,1,1,ok"));
  EXPECT_THAT(read(find("run.json")), HasSubstr("\"status\": \"interrupted\""));
}

TEST_F(Workers, APointThatCannotBeStoppedEndsTheRunOfAll) {
  const Ended ended = run_with(
      2, workers_script("if point.n == 2 and index == 0 then string.find(('a'):rep(40), ('a-'):rep(30) .. 'b') end"),
      {"--timeout", "0.3"});
  EXPECT_EQ(ended.status, 2);
  EXPECT_THAT(ended.err, HasSubstr("n=2: timeout: not done after 300 ms (--timeout), and could not be stopped\n"));
  EXPECT_THAT(read(find("results.csv")), AllOf(HasSubstr("together,1,1,1,ok"), HasSubstr("together,2,0,2,timeout")));
  EXPECT_THAT(read(find("run.json")), HasSubstr("\"status\": \"error\""));
  EXPECT_TRUE(std::filesystem::exists(find("report.html")));
}

TEST_F(Workers, AStoppedProcessEndsTheRun) {
  write("script.lua", announced);
  EndlessRun run(path(), 1, SIGSTOP);
  const Ended ended = run.end();
  EXPECT_EQ(ended.status, 2);
  EXPECT_THAT(ended.err,
              HasSubstr(fmt::format("pid {}) was lost: nothing has been heard of it for 5 s", run.process())));
}

TEST_F(Workers, ALostProcess0IsTold) {
  write("script.lua", announced);
  EndlessRun run(path(), 0, SIGKILL);
  const Ended ended = run.end();
  EXPECT_EQ(ended.status, 2);
  EXPECT_THAT(ended.err, HasSubstr(fmt::format("pid {}) was lost: its process has ended", run.process())));
}

TEST_F(Workers, ALostProcess0LeavesARunThatHasEnded) {
  write("script.lua", announced);
  EndlessRun run(path(), 0, SIGKILL);
  run.end();
  EXPECT_THAT(read(find("run.json")),
              AllOf(HasSubstr("\"status\": \"error\""), HasSubstr("\"detail\": \"process 0 ("),
                    HasSubstr(fmt::format("pid {}) was lost: its process has ended", run.process())),
                    HasSubstr("\"rows\": 2")));
}

TEST_F(Workers, ThatAllCallOsExitEndWithItsStatus) {
  const std::string script = workers_script("") + "print('bye') pcall(os.exit, STATUS)";
  const auto exiting = [&](const std::string& status) {
    std::string text = script;
    return run_with(3, text.replace(text.find("STATUS"), 6, status), {"--trusted"});
  };
  const Ended good = exiting("0");
  EXPECT_EQ(good.status, 0) << good.err;
  EXPECT_EQ(good.err, "");
  EXPECT_THAT(good.out, HasSubstr("bye\n"));
  const Ended odd = exiting("7");
  EXPECT_EQ(odd.status, 7) << odd.err;
  const Ended one = exiting("index == 1 and 3 or 0");
  EXPECT_EQ(one.status, 3);
  EXPECT_EQ(one.err, "");
}

TEST_F(Workers, WhatIsRequiredOfOneIsRequiredOfAll) {
  const Ended skipped = run_with(2, workers_script("require('gpubench').skip 'not here'"));
  EXPECT_EQ(skipped.status, 3);
  EXPECT_THAT(skipped.err, MatchesRegex("together: no point was measured: [^\n]*\\(exit status 3\\)\n"));
  const Ended missing = run_with(2, workers_script(""), {"--require", "device=cpu:7"});
  EXPECT_EQ(missing.status, 3);
  EXPECT_THAT(missing.err, HasSubstr("--require device=cpu:7: there is no cpu:7 (devices: cpu:0)"));
}

TEST_F(Workers, OneThatLeavesWhileOthersExchangeIsAnError) {
  const Ended ended = run_with(2, workers_script("if point.n == 2 and index == 1 then os.exit(0) end"),
                               {"--trusted", "--peer-timeout", "6"});
  EXPECT_EQ(ended.status, 2);
  EXPECT_THAT(ended.err, MatchesRegex("n=2: error: process 1 \\(.*\\) has come to the end of its script, and process 0 "
                                      "\\(.*\\) has waited for it in an exchange for 6 s\n.*1 point not measured\n"
                                      "together: .*\\(exit status 2\\)\n"));
  EXPECT_THAT(read(find("results.csv")), AllOf(HasSubstr("together,1,1,1,ok"), HasSubstr("together,2,0,2,error")));
}

TEST_F(Workers, OneThatDoesNotComeIsGivenUp) {
  const Ended ended =
      run_with(2, workers_script("if point.n == 2 and index == 1 then while true do end end"), {"--peer-timeout", "6"});
  EXPECT_EQ(ended.status, 2);
  EXPECT_THAT(ended.err,
              AllOf(HasSubstr("n=2: error: process 1 ("), HasSubstr("has waited for it for 6 s (--peer-timeout)")));
}

}  // namespace
}  // namespace gpubench
