#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lua/api/openers.h"
#include "lua/api/session.h"
#include "tests/lua/bind/script.h"
#include "tests/support/files.h"

namespace gpubench::lua {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;

/// Scripts with tensors and datasets; `x` is float32[4, 2] of 1 to 8, `y` int64[4], `dataset` their slices.
class Datasets : public TemporaryFolder {
 protected:
  Datasets() {
    lua_State* L = script_.state();
    set_session(L, session_);
    open_device(L);
    open_device_config(L);
    open_tensor(L);
    open_tensor_functions(L);
    open_dataset(L);
    open_image_sets(L);
    open_array_files(L);
    script_.run(R"lua(
      x = gb.tensor { { 1, 2 }, { 3, 4 }, { 5, 6 }, { 7, 8 } }
      y = gb.arange(4)
      dataset = gb.data.Dataset.from_tensor_slices { x, y }
      function labels_of(dataset)
        local found = {}
        for _, labels in dataset:iter() do
          local values = labels:to_table()
          found[#found + 1] = type(values) == "table" and table.concat(values, ",") or tostring(values)
        end
        return table.concat(found, " ")
      end
    )lua");
  }

  Session session_{SessionOptions{}};
  Script script_;
};

TEST_F(Datasets, LoopsGiveTheElementsAsTensors) {
  EXPECT_EQ(script_.run("return labels_of(dataset)"), "0 1 2 3");
  EXPECT_EQ(script_.run("return labels_of(dataset:batch(3))"), "0,1,2 3");
  EXPECT_EQ(script_.run("return labels_of(dataset:skip(1):take(2):repeated(2):batch(3):prefetch(2))"), "1,2,1 2");
  EXPECT_EQ(script_.run("for a in dataset:batch(2):iter() do return a:sum():item() end"), "10.0");
}

TEST_F(Datasets, LeavingALoopEarlyEndsItsCursor) {
  EXPECT_EQ(script_.run(R"lua(
    for i = 1, 20 do
      for _, label in dataset:repeated():batch(1):prefetch(gb.AUTOTUNE):iter() do
        if label:sum():item() == 2 then break end
      end
    end
    local iterator = dataset:iter()
    for a in iterator do break end
    return iterator() ~= nil
  )lua"),
            "true");
}

TEST_F(Datasets, ShufflesAreSeededByTheScriptOrTheSession) {
  EXPECT_EQ(script_.run(R"lua(
    local numbers = gb.data.Dataset.from_tensor_slices { gb.arange(100), gb.arange(100) }
    local function order(dataset) return labels_of(dataset) end
    local a = numbers:shuffle(100, { seed = 5 })
    local first, second = order(a), order(a)
    assert(first ~= second, "every epoch is shuffled anew")
    assert(first == order(numbers:shuffle(100, { seed = 5 })))
    local fixed = numbers:shuffle(100, { seed = 5, reshuffle_each_iteration = false })
    assert(order(fixed) == first and order(fixed) == first)
    gb.config.set_seed(1)
    local one, other = order(numbers:shuffle(100)), order(numbers:shuffle(100))
    gb.config.set_seed(1)
    assert(one ~= other and one == order(numbers:shuffle(100)))
    return "done"
  )lua"),
            "done");
}

TEST_F(Datasets, MapsAreTracedOnceAndRunNatively) {
  EXPECT_EQ(script_.run(R"lua(
    local calls = 0
    local mapped = dataset:map(function(a, label) calls = calls + 1 return a * 10, label + 1 end)
    local sum = 0
    for a, label in mapped:batch(2):prefetch(2):iter() do sum = sum + (a:sum() + label:cast("float32"):sum()):item() end
    return calls .. " " .. sum
  )lua"),
            "1 370.0");
  EXPECT_EQ(
      script_.run("return labels_of(dataset:batch(3):map(function(a, label) return a:mean({ 1 }), label + 1 end))"),
      "1,2,3 4");
}

TEST_F(Datasets, SizesAndTypesAreKnownBeforeTheyRun) {
  EXPECT_EQ(script_.run("return dataset:batch(3).size"), "2");
  EXPECT_EQ(script_.run("return dataset:repeated().size == math.huge"), "true");
  EXPECT_EQ(script_.run("return table.concat(dataset:batch(3).element_types, ' ')"), "float32[?, 2] int64[?]");
  EXPECT_EQ(script_.run("return dataset:shuffle(4, { seed = 2 }):batch(2)"),
            "Dataset(from_tensor_slices > shuffle(buffer=4 seed=2) > batch(size=2): (float32[2, 2], int64[2]))");
  EXPECT_EQ(script_.run("return gb.data.Dataset.zip { dataset, dataset }.element_types[4]"), "int64[]");
  EXPECT_EQ(script_.run("return gb.data.Dataset.from_tensor_slices({ { 1, 2 }, { 3, 4 } }).element_types[1]"),
            "float32[2]");
}

TEST_F(Datasets, MapsRunInParallel) {
  EXPECT_EQ(script_.run(R"lua(
    local mapped = dataset:map(function(a, n) return a, n + 1 end, { num_parallel_calls = 3 })
    return labels_of(mapped) .. " / " .. labels_of(mapped:batch(3):options { deterministic = true, threads = 2 })
  )lua"),
            "1 2 3 4 / 1,2,3 4");
}

TEST_F(Datasets, StatisticsTellOfTheLastEpoch) {
  EXPECT_EQ(script_.run(R"lua(
    local tuned = dataset:map(function(a, n) return a, n end, { num_parallel_calls = gb.AUTOTUNE }):batch(2):prefetch()
    assert(#tuned:stats() == 0)
    for _ in tuned:iter() do break end
    local texts = {}
    for _, stage in ipairs(tuned:stats()) do texts[#texts + 1] = stage.stage end
    local map, last = tuned:stats()[2], tuned:stats()[4]
    assert(map.workers >= 1 and map.why == "to start with" and map.busy_s > 0)
    assert(last.elements == 1 and last.bytes == 32 and last.buffer >= 2)
    return table.concat(texts, " ")
  )lua"),
            "from_tensor_slices map batch prefetch");
}

TEST_F(Datasets, WrongArgumentsAreNamed) {
  const std::pair<const char*, const char*> cases[] = {
      {"dataset:batch(5, { drop_remainder = true })",
       "batch: a size of 5 with drop_remainder leaves nothing of a dataset of 4 "
       "elements; use at most 4, or keep the remainder"},
      {"dataset:batch(2, { drop_last = true })", "unknown option 'drop_last'; here: drop_remainder"},
      {"dataset:batch('2')", "argument #1: integer or table of options expected, got string"},
      {"dataset:shuffle(2, { sede = 1 })", "unknown option 'sede'"},
      {"dataset:shuffle()", "argument #1: integer or table of options expected, got no value"},
      {"dataset:repeated(0)", "repeat: a count of 0; at least 1 is needed"},
      {"dataset:prefetch(0)", "prefetch: a buffer of 0 elements; 1 to 1048576 are possible, or AUTOTUNE"},
      {"dataset:map(function(a) return a end, { num_parallel_calls = -3 })",
       "map: -3 parallel calls; 0 to 128 are possible, or AUTOTUNE"},
      {"dataset:map(function(a) return a end, { workers = 2 })",
       "unknown option 'workers'; here: num_parallel_calls of dataset:map"},
      {"dataset:options { threads = 0 }", "options: threads = 0; it must be above 0"},
      {"dataset:options { ram = 1 }", "unknown option 'ram' (known: threads, ram_budget, cpu_budget, deterministic)"},
      {"dataset:shufle(2)", "no member 'shufle' (did you mean 'shuffle'?)"},
      {"gb.data.Dataset.from_tensor_slices { x, gb.arange(3) }", "first dimensions differ"},
      {"gb.data.Dataset.from_tensor_slices { x, 'y' }", "got string"},
      {"gb.data.Dataset.zip { x }", "Dataset expected, got Tensor"},
      {"dataset:map(function() end)", "map: the function returned nothing; it returns the new element's tensors"},
      {"dataset:map(function() return 'x' end)", "map: the traced function returned a string as result 1"},
      {"dataset:map(function(a) if a:sum():item() > 0 then return a end end)",
       "this tensor belongs to a function that is being traced"},
      {"dataset:map(function(a) return a * v end)", "map: the function reads variable 'v'"},
      {"dataset:batch(3):map(function(a) return a * a.shape[1] end)",
       "map: the function depends on an extent that varies"},
      {"gb.datasets.mnist('valid')", "mnist: unknown split 'valid' (known: train, test)"},
      {"gb.datasets.mnist('test', { flat = true })",
       "unknown option 'flat' (known: flatten, one_hot, scaled, directory)"},
  };
  script_.run("v = gb.Variable(3, { name = 'v' })");
  for (const auto& [code, message] : cases) EXPECT_THAT(script_.error(code), HasSubstr(message)) << code;
}

TEST_F(Datasets, DigitsSayWhereTheyCameFrom) {
  EXPECT_EQ(script_.run(R"lua(
    local test = gb.datasets.mnist("test", { flatten = false, one_hot = false })
    assert(test.element_types[1] == "float32[28, 28, 1]" and test.element_types[2] == "int64[]")
    local images, labels = gb.datasets.mnist_arrays("test")
    assert(#images == test.size and labels.shape[2] == 10)
    local origin = gb._native.data_origins()["mnist test"]
    assert(origin.examples == test.size and origin.checksum:find "^crc32:%x+$" and origin.directory ~= "")
    return type(origin.source)
  )lua"),
            "string");
}

TEST_F(Datasets, NumpyFilesAreReadAndWritten) {
  Value<std::string>::push(script_.state(), file("x.npy").string());
  lua_setglobal(script_.state(), "path");
  EXPECT_EQ(script_.run("gb.save_npy(path, y) return gb.load_npy(path)"), "Tensor(int64[4], cpu:0)\n[0, 1, 2, 3]");
  EXPECT_THAT(script_.error("gb.load_npy(path .. 'x')"),
              EndsWith("x.npyx: cannot be opened: No such file or directory"));
}

}  // namespace
}  // namespace gpubench::lua
