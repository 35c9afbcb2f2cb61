// run --dry-run: what would be measured and how long it takes, with nothing trained or measured.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <initializer_list>
#include <string>
#include <utility>

#include "tests/lua/host/folder.h"
#include "tests/lua/host/small_experiment.h"

namespace gpubench {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

using DryRun = FolderTest;

TEST_F(DryRun, TellsWhatIsSkippedAndHowLongTheRestTakes) {
  const auto dry = [&](const std::string& skip, const std::string& more = {}) {
    std::string text = with_body("");
    text.replace(text.find("  run ="), 0, "  skip = function(point) " + skip + " end,\n" + more);
    return run(text, {"--dry-run", "--budget", "1.7"});
  };
  const std::string odd = "if point.n ~= 2 then return 'odd' end";
  EXPECT_EQ(dry(odd).out,
            "small: A small sweep\n   1  n=1  skipped: odd\n   2  n=2\n   3  n=3  skipped: odd\n"
            "1 point: 1.45 s to 5.8 s, a guess (no earlier run has these points and options); 2 skipped\n");
  EXPECT_THAT(dry("if point.n == 1 then gb.skip('one') end").out,
              AllOf(HasSubstr("n=1  skipped: one\n"), HasSubstr("2 points: 2.9 s to 11.6 s, a guess"),
                    HasSubstr("; 1 skipped\n")));
  EXPECT_THAT(dry("", "  seconds = function(point, measurement_s) return point.n * measurement_s end,\n").out,
              HasSubstr("3 points: 8.7 s to 34.8 s, a guess"));
  const Ended broken_guess = dry("", "  seconds = function() return 'soon' end,\n");
  EXPECT_EQ(broken_guess.status, 2);
  EXPECT_THAT(broken_guess.err, HasSubstr("seconds must return a number of seconds from 0; it returned soon at n=1"));
  const Ended broken = dry("return point.m");
  EXPECT_EQ(broken.status, 2);
  EXPECT_THAT(broken.err, HasSubstr("point: there is no axis 'm' (axes: n)"));
}

TEST_F(DryRun, TrainsAndMeasuresNothing) {
  const std::string model = R"(
local gb = require "gpubench"
local model = gb.Sequential { gb.layers.Dense(1, { input_shape = { 2 } }) }
model:compile { optimizer = "sgd", loss = "mse" }
local x, y = gb.ones { 4, 2 }, gb.ones { 4, 1 }
local compiled = gb.compile(function(a) return a + 1 end)
local strategy = gb.distribute.MirroredStrategy { devices = { "cpu:0" } }
local weight, tape = gb.Variable({ 1.0 }), gb.tape()
local loss = weight * 2
)";
  for (const auto& [call, name] : std::initializer_list<std::pair<std::string, std::string>>{
           {"model:fit(x, y)", "model:fit"},
           {"model:evaluate(x, y)", "model:evaluate"},
           {"pcall(model.predict, model, x) model:predict(x)", "model:predict"},
           {"compiled(x)", "a function made by gb.compile"},
           {"strategy:run(function() end)", "strategy:run"},
           {"tape:gradient(loss, weight)", "tape:gradient"},
           {"gb.optimizers.SGD(0.1):apply_gradients { { x, weight } }", "optimizer:apply_gradients"},
           {"gb.find_batch_size(model, gb.datasets.mnist 'train')", "gb.find_batch_size"},
           {"gb.measure.training(model, x)", "gb.measure.training"},
           {"gb.measure.kernels { { op = 'matmul' } }", "gb.measure.kernels"}}) {
    const Ended ended = run(model + call, {"--dry-run"});
    EXPECT_EQ(ended.status, 2) << call;
    EXPECT_EQ(ended.err, "script.lua:10: " + name +
                             " trains or measures, and a dry run (--dry-run) does neither: "
                             "move the call into `run` of gb.experiment\n")
        << call;
  }
}

TEST_F(DryRun, RefusesAllThatMeasuresAndNothingThatComputesFromRows) {
  const Ended ended = run(R"(
local gb = require "gpubench"
local allowed = {}
for name, measure in pairs(gb.measure) do
  local _, reason = pcall(measure)
  if not tostring(reason):find("a dry run", 1, true) then allowed[#allowed + 1] = name end
end
table.sort(allowed)
print(table.concat(allowed, " "))
)",
                          {"--dry-run"});
  EXPECT_EQ(ended.out, "efficiency share_interval\n");
}

TEST_F(DryRun, GoesThroughAllExperimentsAndTheirSettings) {
  const std::string second =
      "gb.config.set_memory_limit('cpu:0', 1 << 20)\n"
      "local rows = gb.experiment { name = 'other', title = 'O', run = function() return {} end }\nprint(#rows)\n";
  const Ended ended = run(with_body("") + second, {"--dry-run"});
  EXPECT_EQ(ended.err, "");
  EXPECT_THAT(ended.out, AllOf(StartsWith("small: A small sweep\n"), HasSubstr("\nother: O\n"), EndsWith("\n0\n")));
}

TEST_F(DryRun, ValuesThatAnAxisRefusesEndIt) {
  std::string text = with_body("");
  text.replace(text.find("{ 1, 2, 3 }"), 11, "{ 'a', 'b' }, { closed = true }");
  const Ended refused = run(text, {"--set", "n=c", "--dry-run"});
  EXPECT_EQ(refused.status, 2);
  EXPECT_EQ(refused.err, "script.lua:3: --set n=c: possible: a, b\n");
}

}  // namespace
}  // namespace gpubench
