// gpubench tune
#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <regex>

#include "core/diagnose/remedy.h"
#include "tests/lua/host/folder.h"

namespace gpubench {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

/// A script whose figure is counted from its pipeline, so that no machine changes what helps: a prefetch halves the
/// units, workers take a tenth of the rest away, a cache doubles them, and batches of 16 cost half.
constexpr const char* counted_script = R"(local gb = require "gpubench"
local scale = gb.param("scale", 1)
gb.experiment {
  name = "counted", title = "t",
  axes = { gb.axis("batch_size", { 4, 8 }), gb.axis("kind", { "digits", "none" }) },
  columns = { gb.column("units", { kind = "counted", better = "lower" }) },
  skip = function(point) return point.kind == "none" and "there is nothing" or nil end,
  run = function(point)
    local input = gb.data.Dataset.range(64)
      :map(function(number) return number * 2 end)
      :shuffle(64):batch(point.batch_size)
    local text, units = tostring(input), 100 * scale
    if text:find "prefetch" then units = units / 2 end
    if text:find "workers" then units = units * 0.9 end
    if text:find "cache" then units = units * 2 end
    if text:find "size=16" then units = units / 2 end
    return { units = units, device = "cpu:0" }
  end,
}
)";

class Tune : public FolderTest {
 protected:
  void SetUp() override { write("counted.lua", counted_script); }
  Ended tune(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), "tune");
    return run_program(arguments, path());
  }
  Ended tune_script(const std::string& text, std::vector<std::string> options = {}) const {
    write("other.lua", text);
    options.insert(options.begin(), "other.lua");
    return tune(options);
  }
};

TEST_F(Tune, RemediesAreTriedAloneThenTogetherAndShownAsADiff) {
  const Ended ended = tune({"counted.lua", "--quick", "--figure", "units"});
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_THAT(ended.err,
              AllOf(HasSubstr("trying more_workers\n"), HasSubstr("trying prefetch\n"), HasSubstr("trying cache\n"),
                    HasSubstr("trying larger_batch\n"), Not(HasSubstr("trying graph\n"))));
  EXPECT_THAT(ended.out, AllOf(HasSubstr("counted.lua at batch_size=4 kind=digits\n"),
                               HasSubstr("prefetch      2.00 [2.00, 2.00]"), HasSubstr("worse: left out"),
                               HasSubstr("prefetch + more_workers  1.11 [1.11, 1.11]"),
                               HasSubstr("larger_batch  2.00 [2.00, 2.00]"), HasSubstr("graph"),
                               HasSubstr("the script compiles no model")));
  EXPECT_THAT(ended.out, HasSubstr(R"(
counted.lua:10
-      :map(function(number) return number * 2 end)
+      :map(function(number) return number * 2 end, { num_parallel_calls = gb.AUTOTUNE })
counted.lua:11
-      :shuffle(64):batch(point.batch_size)
+      :shuffle(64):batch(point.batch_size):prefetch(gb.AUTOTUNE)
)"));
  EXPECT_THAT(ended.out, HasSubstr("+      :shuffle(64):batch(4 * (point.batch_size))\n"));
  EXPECT_EQ(read("counted.lua"), counted_script) << "a diff is printed, never applied";
}

TEST_F(Tune, RowsSayWhatWasChanged) {
  const Ended ended = tune({"counted.lua", "--quick", "--figure", "units", "--remedy", "prefetch", "--remedy",
                            "larger_batch", "--where", "batch_size=8", "--set", "scale=3"});
  EXPECT_EQ(ended.status, 0) << ended.err;
  const Ended shown = run_program({"show", "tune_counted", "--format", "csv"}, path());
  EXPECT_THAT(shown.out, AllOf(HasSubstr("as_it_was"), HasSubstr("prefetch(gb.AUTOTUNE) behind batch in line 9"),
                               HasSubstr("300"), HasSubstr("150")));
  const Ended learned = run_program({"show", "tune_counted_learned", "--format", "csv"}, path());
  EXPECT_THAT(learned.out, AllOf(HasSubstr("32 instead of 8 in batch in line 9"), HasSubstr("true")));
}

/// Units tell how the step was made: eagerly, on two devices, in float32, with a callback after every batch.
constexpr const char* steps_script = R"(local gb = require "gpubench"
gb.experiment {
  name = "steps", title = "t", columns = { gb.column("units", { kind = "counted", better = "lower" }) },
  run = function()
    gb.config.set_logical_devices("cpu:0", { { threads = 1 }, { threads = 1 } })
    local input = gb.data.Dataset.range(16):batch(8)
      :map(function(n) return n:cast("float32"):reshape { 8, 1 }, n:cast("float32"):reshape { 8, 1 } end)
    local model = gb.Sequential {
      gb.layers.Dense(4, { input_shape = { 1 } }),
      gb.device("cpu:1", function() return gb.layers.Dense(4) end),
      gb.device("cpu:0", function() return gb.layers.Dense(1) end),
    }
    model:compile { loss = "mse", run_eagerly = true, passes = { fuse_epilogue = false } }
    local limits = { budget = 0.01, min_time = 0.001, warmup = 0.001 }
    local row = gb.measure.training(model, input, limits)
    local calls, traced, devices = 0, 0, {}
    model:fit(input, { verbose = 0, callbacks = { { on_batch_end = function() calls = calls + 1 end } } })
    gb.measure.loop(function(x) traced = traced + 1 return x:sum() end, input, limits)
    for _, weights in ipairs(model.variables) do devices[weights.device] = true end
    return {
      units = (row.execution == "eager" and 2 or 1) * (calls > 1 and 2 or 1) * (traced > 1 and 2 or 1)
        * (devices["cpu:1"] and 2 or 1) * (row.precision == "float32" and 2 or 1),
      device = "cpu:0",
    }
  end,
}
)";

TEST_F(Tune, StepsAreChangedAndEdited) {
  const Ended ended = tune_script(steps_script, {"--quick", "--figure", "units"});
  EXPECT_EQ(ended.status, 0) << ended.err;
  for (const char* remedy : {"one_device", "graph", "compiled_step", "fewer_callbacks", "mixed_precision"})
    EXPECT_THAT(ended.out, ContainsRegex(std::string(remedy) + " +2\\.00 \\[2\\.00, 2\\.00\\] .* kept\n"));
  EXPECT_THAT(ended.out, ContainsRegex("larger_batch +an epoch has 16 examples, fewer than a batch of 32"));
  EXPECT_THAT(
      ended.out,
      AllOf(HasSubstr("+      gb.device(\"cpu:0\", function() return gb.layers.Dense(4) end),\n"),
            HasSubstr("+    model:compile { execution = \"graph\", loss = \"mse\", run_eagerly = false, passes = { "),
            HasSubstr("+    gb.measure.loop(gb.compile(function(x) traced = traced + 1 return x:sum() end), input"),
            HasSubstr("+    -- gpubench tune: call back once an epoch: "),
            HasSubstr("+    gb.config.set_dtype_policy \"mixed_bfloat16\"\n")));
}

TEST_F(Tune, BadArgumentsListWhatIsPossible) {
  EXPECT_THAT(tune({"nothing.lua"}).err, HasSubstr("no script, experiment or command 'nothing.lua'"));
  const Ended axis = tune({"counted.lua", "--where", "batch=4"});
  EXPECT_EQ(axis.status, 2);
  EXPECT_THAT(axis.err, HasSubstr("tune: --where batch=4: there is no axis 'batch' (axes and "
                                  "values: batch_size=4|8, kind=digits|none)"));
  EXPECT_THAT(tune({"counted.lua", "--where", "batch_size=5"}).err, HasSubstr("the axis batch_size has no value 5"));
  EXPECT_THAT(tune({"counted.lua", "--where", "5"}).err, HasSubstr("'5' is not AXIS=VALUE"));
  const Ended old = tune({"counted.lua", "--point", "batch_size=8"});
  EXPECT_EQ(old.status, 2);
  EXPECT_THAT(old.err, HasSubstr("unknown option '--point'; here: --where AXIS=VALUE names the point by its values"));
  EXPECT_THAT(
      tune({"counted.lua", "--remedy", "prefech"}).err,
      AllOf(HasSubstr("there is no such remedy (remedies: more_workers, "), HasSubstr("(did you mean 'prefetch'?)")));
  EXPECT_THAT(tune({"counted.lua", "--quick", "--figure", "unit"}).err, HasSubstr("(did you mean 'units'?)"));
  EXPECT_THAT(tune({"counted.lua", "--experiment", "count"}).err,
              HasSubstr("there is no experiment 'count' (experiments: counted)"));
  EXPECT_THAT(tune({"counted.lua", "--set", "size=1"}).err, HasSubstr("--set size: there is no such axis"));
}

TEST_F(Tune, MapsOfWholeBatchesAreCheckedFirst) {
  const auto mapped = [&](const std::string& function) {
    return tune_script(
        "local gb = require 'gpubench'\n"
        "gb.experiment { name = 'a', title = 't', columns = { gb.column('units', { kind = 'counted', better "
        "= 'lower' }) }, run = function()\n"
        "  local input = gb.data.Dataset.range(64):map(" +
            function +
            ")\n  input = input:batch(8)\n"
            "  return { units = tostring(input):find 'batch%b() > map' and 1 or 2 } end }",
        {"--quick", "--figure", "units", "--remedy", "batched_map"});
  };
  const Ended alike = mapped("function(x) return x:cast('float32') * 2 end");
  EXPECT_EQ(alike.status, 0) << alike.err;
  EXPECT_THAT(alike.out,
              AllOf(HasSubstr("batched_map  2.00 [2.00, 2.00]"),
                    HasSubstr("+  -- gpubench tune: map behind batch: batch in line 4, then the map of line 3\n")));
  EXPECT_THAT(mapped("function(x) return x:cast('float32') - x:cast('float32'):mean() end").out,
              HasSubstr("it fails: other.lua:4: the map's function gives other numbers for a whole batch"));
}

TEST_F(Tune, FitMakesLargerBatchesOfTensors) {
  const Ended ended = tune_script(
      R"(local gb = require "gpubench"
gb.experiment { name = "a", title = "t", columns = { gb.column("units", { kind = "counted", better = "lower" }) },
  run = function()
    local model, count = gb.Sequential { gb.layers.Dense(1, { input_shape = { 1 } }) }, 0
    model:compile { loss = "mse" }
    model:fit(gb.zeros { 256, 1 }, gb.zeros { 256, 1 }, { verbose = 0, callbacks = { { on_batch_end = function() count = count + 1 end } } })
    return { units = count }
  end })",
      {"--quick", "--figure", "units", "--remedy", "larger_batch"});
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_THAT(ended.out,
              AllOf(HasSubstr("larger_batch  4.00 [4.00, 4.00]"), HasSubstr("{ batch_size = 128, verbose = 0, ")));
}

TEST_F(Tune, RemediesHaveTheNamesOfTheDiagnosis) {
  const std::string text = tune({"counted.lua", "--remedy", "?"}).err;
  const std::regex list(R"(\(remedies: ([a-z_0-9, ]+)\))"), word("[a-z_0-9]+");
  std::smatch match;
  ASSERT_TRUE(std::regex_search(text, match, list)) << text;
  const std::string names = match[1];
  for (std::sregex_iterator name(names.begin(), names.end(), word), end; name != end; ++name)
    EXPECT_TRUE(remedy_named(name->str())) << name->str();
}

TEST_F(Tune, ScriptsThatCannotBeTuned) {
  const Ended none = tune_script("print 'hello'");
  EXPECT_EQ(none.status, 2);
  EXPECT_THAT(none.err,
              HasSubstr("other.lua declares no experiment (gb.experiment), so that it has no point to measure"));
  EXPECT_THAT(tune_script("x = = 1").err, HasSubstr("other.lua:1: unexpected symbol"));
  const std::string start = "local gb = require 'gpubench' gb.experiment { name = 'a', title = 't', run = function() ";
  const Ended broken = tune_script(start + "error 'broken' end }", {"--quick"});
  EXPECT_EQ(broken.status, 2);
  EXPECT_THAT(broken.err, AllOf(HasSubstr("tune: other.lua at a: "), HasSubstr("other.lua:1: broken")));
  const Ended empty = tune_script(start + "return { work_s = 1 } end }", {"--quick"});
  EXPECT_EQ(empty.status, 3);
  EXPECT_THAT(empty.err, HasSubstr("the point uses no dataset and no model of gpubench"));
  const Ended figureless = tune_script(start + "return { count = 1 } end }", {"--quick"});
  EXPECT_EQ(figureless.status, 3);
  EXPECT_THAT(figureless.err, HasSubstr("no row of the point has a time or a rate to improve"));
  const Ended skipped = tune_script(start + "gb.skip 'not here' end }", {"--quick"});
  EXPECT_EQ(skipped.status, 3);
  EXPECT_THAT(skipped.err, HasSubstr("not here (skipped)"));
  EXPECT_EQ(tune({"counted.lua", "--where", "kind=none"}).status, 3);
  const Ended several = tune_script(start + "end } gb.experiment { name = 'b', title = 't', run = function() end }");
  EXPECT_EQ(several.status, 2);
  EXPECT_THAT(several.err, HasSubstr("which experiment? --experiment NAME says it (experiments: a, b)"));
}

TEST_F(Tune, ABudgetForTooFewRoundsLeavesAllGainsOpen) {
  const Ended ended = tune_script(
      "local gb = require 'gpubench' gb.experiment { name = 'a', title = 't', run = function()\n"
      "local input = gb.data.Dataset.range(8):batch(2) for _ in input:iter() do end\n"
      "local begun = gb.clock() while gb.clock() - begun < 0.2 do end return { work_s = 1 } end }",
      {"--budget", "0.01", "--timeout", "1"});
  EXPECT_EQ(ended.status, 3);
  EXPECT_THAT(ended.err,
              AllOf(HasSubstr("no gain could be judged: "), HasSubstr("6 rounds do not fit into 1 s (--timeout)")));
}

TEST_F(Tune, ScriptsStayInTheirSandbox) {
  const Ended ended = tune_script("os.execute 'true'");
  EXPECT_EQ(ended.status, 2);
  EXPECT_THAT(ended.err, HasSubstr("os.execute is not available to scripts"));
  const Ended host = tune_script("print(require 'gpubench'._native.host)");
  EXPECT_THAT(host.out, HasSubstr("nil\n"));
}

TEST_F(Tune, ChangesReachCallsOfTheTopLevelAndOfModules) {
  write("pipeline.lua",
        "local gb = require 'gpubench'\nreturn function(data)\n  return data:map(function(x) return x + 1 end)\nend\n");
  const Ended ended = tune_script(
      "local gb = require 'gpubench'\n"
      "local mapped = require 'pipeline'\n"
      "local input = mapped(gb.data.Dataset.range(64)):batch(8)\n"
      "gb.experiment { name = 'a', title = 't', columns = { gb.column('units', { kind = 'counted', better = 'lower' }) "
      "},\n  run = function() return { units = tostring(input):find 'workers' and 1 or 2 } end }",
      {"--quick", "--figure", "units", "--remedy", "more_workers"});
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("more_workers  2.00 [2.00, 2.00]"));
  EXPECT_THAT(ended.out, HasSubstr("# ./pipeline.lua:3: num_parallel_calls = gb.AUTOTUNE in map in line 3"));
}

TEST_F(Tune, WorkersReadAFolderOfImages) {
  std::filesystem::create_directories(path() + "/pictures/cats");
  write("pictures/cats/a.jpg", "it is only listed");
  const Ended ended = tune_script(
      "local gb = require 'gpubench'\n"
      "local input = gb.data.Dataset.image_folder('pictures', { size = { 8, 8 } }):batch(8)\n"
      "gb.experiment { name = 'a', title = 't', columns = { gb.column('units', { kind = 'counted', better = 'lower' }) "
      "},\n  run = function() return { units = tostring(input):find 'workers' and 1 or 2 } end }",
      {"--quick", "--figure", "units", "--remedy", "more_workers"});
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_THAT(ended.out,
              AllOf(HasSubstr("more_workers  2.00 [2.00, 2.00]"),
                    HasSubstr("image_folder('pictures', { num_parallel_calls = gb.AUTOTUNE, size = { 8, 8 } })")));
}

}  // namespace
}  // namespace gpubench
