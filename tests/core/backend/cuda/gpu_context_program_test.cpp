// Which GPUs get a context of the whole program, by what a script does, and what it does without those that get none.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "tests/lua/host/program.h"
#include "tests/support/files.h"

namespace gpubench {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

/// Scripts on a machine with four GPUs.
class CudaContextProgramTest : public TemporaryFolder {
 protected:
  CudaContextProgramTest() { ::unsetenv("CUDA_VISIBLE_DEVICES"); }  // hidden from other tests

  /// `taken`: GPUs that another process holds, "0,2".
  Ended run_script(const std::string& script, std::vector<std::string> arguments = {}, const std::string& taken = "") {
    std::filesystem::remove(file("contexts"));
    write("script.lua", "local gb = require 'gpubench'\n" + script);
    arguments.insert(arguments.begin(), "script.lua");
    std::vector<std::string> environment{"CUDA_ON_CPU_GPUS=4", "CUDA_ON_CPU_CONTEXTS=" + file("contexts").string()};
    if (!taken.empty()) environment.push_back("CUDA_ON_CPU_TAKEN=" + taken);
    return run_program(arguments, file("").parent_path(), environment);
  }
  /// GPUs on which the latest script made a context, in that order: "0 2".
  std::string contexts() const {
    std::string gpus = std::filesystem::exists(file("contexts")) ? contents(file("contexts")) : "";
    std::ranges::replace(gpus, '\n', ' ');
    return gpus.empty() ? gpus : gpus.substr(0, gpus.size() - 1);
  }
  static std::string held(int gpu) {
    return "GPU " + std::to_string(gpu) +
           " (CUDA on the CPU) cannot be used: it is in exclusive mode, and "
           "another process holds it; end that process ";
  }
  std::string rows() const { return result("results.csv"); }
  std::string info() const { return result("run.json"); }

 private:
  /// Text of the only file of this name.
  std::string result(const std::string& name) const {
    std::string text;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(file("results"))) {
      if (entry.path().filename() == name) text = contents(entry.path());
    }
    return text;
  }
};

constexpr const char* sum_of_ones = "print(gb.ones({ 2 }):sum():item(), gb.device())";

TEST_F(CudaContextProgramTest, AScriptMakesThoseOfTheGpusThatItUses) {
  EXPECT_EQ(run_script(sum_of_ones).out, "2.0\tgpu:0\n");
  EXPECT_EQ(contexts(), "0");
  EXPECT_EQ(run_script(sum_of_ones, {"--device", "gpu:2"}).out, "2.0\tgpu:2\n");
  EXPECT_EQ(contexts(), "2");
  EXPECT_EQ(run_script(sum_of_ones, {"--device", "cpu:0"}).out, "2.0\tcpu:0\n");
  EXPECT_EQ(contexts(), "");
  EXPECT_EQ(run_script("print(gb.device('cpu:0', function() return gb.ones({ 2 }):sum():item() end))").out, "2.0\n");
  EXPECT_EQ(contexts(), "");
  EXPECT_EQ(run_script("print(gb.device('gpu:3', function() return gb.ones({ 2 }).device end))").out, "gpu:3\n");
  EXPECT_EQ(contexts(), "3");
  EXPECT_EQ(run_script(R"(print(#gb.config.list_logical_devices "GPU", #gb.config.list_physical_devices "GPU",
    gb.config.device_description "gpu:2", gb.config.memory_info("gpu:2").in_use))")
                .out,
            "4\t4\tCUDA on the CPU, 512 MiB, compute capability 9.0\t0\n");
  EXPECT_EQ(contexts(), "");
  EXPECT_EQ(run_script("print(#gb.devices())").out, "5\n");
  EXPECT_EQ(contexts(), "0 1 2 3");
  EXPECT_EQ(run_script("print(#gb.devices())", {"--device", "gpu:1"}).out, "5\n");
  EXPECT_EQ(contexts(), "1");
}

constexpr const char* sums_by_device = R"(
gb.experiment {
  name = "sums", title = "Sums",
  axes = { gb.axis("device", gb.devices()) },
  run = function(point) return { sum = gb.device(point.device, function() return gb.ones({ 4 }):sum():item() end) } end,
  columns = { "sum" },
}
)";

TEST_F(CudaContextProgramTest, ASweepOverAllDevicesLeavesOutThoseThatCannotBeUsed) {
  const Ended ended = run_script(sums_by_device, {}, "1");
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_THAT(rows(), AllOf(HasSubstr(",gpu:0,"), HasSubstr(",gpu:2,"), HasSubstr(",gpu:3,"), HasSubstr(",cpu:0,"),
                            Not(HasSubstr("gpu:1")), Not(HasSubstr(",error,"))));
  EXPECT_THAT(info(), AllOf(HasSubstr("unusable_gpus"), HasSubstr(held(1)), Not(HasSubstr("no_gpu"))));
  EXPECT_EQ(contexts(), "0 2 3");
}

TEST_F(CudaContextProgramTest, ASweepOnOneDeviceUsesThatAlone) {
  EXPECT_EQ(run_script(sums_by_device, {"--device", "gpu:2"}, "1").status, 0);
  EXPECT_THAT(rows(), AllOf(HasSubstr(",gpu:2,"), HasSubstr(",ok,")));
  EXPECT_EQ(contexts(), "2");
}

TEST_F(CudaContextProgramTest, AnAxisThatNamesAGpuThatCannotBeUsedHasARowWithTheReason) {
  std::string script = sums_by_device;
  script.replace(script.find("gb.devices()"), std::string("gb.devices()").size(), "{ 'gpu:1', 'gpu:2' }");
  const Ended ended = run_script(script, {}, "1");
  EXPECT_EQ(ended.status, 2);
  EXPECT_THAT(rows(), AllOf(HasSubstr("sums,1,0,error,"), HasSubstr(held(1)), HasSubstr("sums,2,0,ok,")));
  EXPECT_EQ(contexts(), "2");
}

TEST_F(CudaContextProgramTest, ARunSaysWhichGpusItsDefaultDevicePassedOver) {
  const std::string script = R"(
gb.experiment {
  name = "sums", title = "Sums",
  run = function() return { sum = gb.ones({ 4 }):sum():item(), place = tostring(gb.device()) } end,
  columns = { "sum", "place" },
}
)";
  EXPECT_EQ(run_script(script, {}, "0").status, 0);
  EXPECT_THAT(rows(), HasSubstr(",gpu:1"));
  EXPECT_THAT(info(), AllOf(HasSubstr("unusable_gpus"), HasSubstr(held(0)), Not(HasSubstr("no_gpu"))));
  EXPECT_EQ(contexts(), "1");
  std::filesystem::remove_all(file("results"));
  EXPECT_EQ(run_script(script, {}, "0,1,2,3").status, 0);
  EXPECT_THAT(rows(), HasSubstr(",cpu:0"));
  EXPECT_THAT(info(), AllOf(HasSubstr("no_gpu"), HasSubstr(held(0)), HasSubstr("; GPU 3 (CUDA on the CPU) cannot")));
}

TEST_F(CudaContextProgramTest, AGpuThatIsNamedAndCannotBeUsedIsAnErrorWithTheReason) {
  const std::string hint = "; gpubench devices lists the devices that can be used";
  for (const Ended& ended :
       {run_script(sum_of_ones, {"--device", "gpu:2"}, "2"), run_script("gb.device('gpu:2', function() end)", {}, "2"),
        run_script("gb.config.set_visible_devices({ 'gpu:2' }, 'GPU') gb.ones { 2 }", {}, "2"),
        run_script("gb.config.set_visible_devices({ 'gpu:2' }, 'GPU') gb.devices()", {}, "2")}) {
    EXPECT_EQ(ended.status, 2);
    EXPECT_THAT(ended.err, AllOf(HasSubstr(held(2)), HasSubstr(hint)));
    EXPECT_EQ(contexts(), "");
  }
  const Ended required = run_script(sums_by_device, {"--device", "cpu:0", "--require", "device=gpu:2"}, "2");
  EXPECT_EQ(required.status, 3);
  EXPECT_THAT(required.err, AllOf(HasSubstr("--require device=gpu:2: there is no gpu:2 "), HasSubstr("; " + held(2))));
}

TEST_F(CudaContextProgramTest, OthersTakeThePlaceOfAGpuWithSoftPlacement) {
  const Ended ended = run_script(R"(
gb.config.set_soft_device_placement(true)
for _, name in ipairs { "gpu:2", "gpu:2", "gpu:1" } do
  print(gb.device(name, function() return gb.ones({ 2 }).device end))
end)",
                                 {}, "2");
  EXPECT_EQ(ended.out, "cpu:0\ncpu:0\ngpu:1\n");
  EXPECT_THAT(ended.err, StartsWith("gpu:2 cannot be used, cpu:0 took its place: " + held(2)));
  EXPECT_EQ(contexts(), "1");
}

constexpr const char* mirrored = R"(
for _ = 1, 2 do
  local strategy = gb.distribute.MirroredStrategy { devices = DEVICES, cross_device = "local" }
  local model = strategy:scope(function()
    local one = gb.Sequential { gb.layers.Dense(4, { input_shape = { 8 } }) }
    one:compile { optimizer = "sgd", loss = "mse" }
    return one
  end)
  local input = gb.data.Dataset.synthetic { types = { "float32[8]", "float32[4]" }, count = 24 }:batch(12)
  model:fit(input, { verbose = 0 })
  model:evaluate(input, { verbose = 0 })
  gb.measure.training(model, input:repeated(), { budget = 0.02 })
  local names = {}
  for index, device in ipairs(strategy.devices) do names[index] = tostring(device) end
  print(table.concat(names, " "))
end
)";

TEST_F(CudaContextProgramTest, AStrategyUsesItsGpusAlone) {
  const Ended two = run_script("local DEVICES = { 'gpu:1', 'gpu:3' }" + std::string(mirrored));
  EXPECT_EQ(two.out, "gpu:1 gpu:3\ngpu:1 gpu:3\n") << two.err;
  EXPECT_EQ(contexts(), "1 3");
  const Ended named = run_script("local DEVICES = { 'gpu:1', 'gpu:3' }" + std::string(mirrored), {}, "3");
  EXPECT_EQ(named.status, 2);
  EXPECT_THAT(named.err, HasSubstr(held(3)));
}

TEST_F(CudaContextProgramTest, AStrategyOfAllGpusLeavesOutThoseThatCannotBeUsedAndSaysWhy) {
  const Ended ended = run_script("local DEVICES" + std::string(mirrored), {}, "0,2");
  EXPECT_EQ(ended.out, "gpu:1 gpu:3\ngpu:1 gpu:3\n") << ended.err;
  EXPECT_EQ(contexts(), "1 3");
  const auto count = [&](const std::string& text) {
    return ended.err.find(text) != std::string::npos && ended.err.find(text) == ended.err.rfind(text);
  };
  EXPECT_TRUE(count(held(0)) && count(held(2))) << "each once: " << ended.err;
}

TEST_F(CudaContextProgramTest, ALoopUsesTheGpusOfItsFunctionAlone) {
  const std::string loop = R"(
local data = gb.data.Dataset.synthetic { types = { "float32[4]" }, count = 8 }:batch(4):repeated()
print(gb.measure.loop(function() return gb.ones({ 2 }):sum() end, data, { budget = 0.02 }).quality ~= nil))";
  EXPECT_EQ(run_script(loop, {"--device", "cpu:0"}, "0").out, "true\n");
  EXPECT_EQ(contexts(), "");
  EXPECT_EQ(run_script(loop, {"--device", "gpu:1"}, "0").out, "true\n");
  EXPECT_EQ(contexts(), "1");
}

TEST_F(CudaContextProgramTest, PageLockedMemoryIsThatOfAGpuInUse) {
  const std::string pin = "print(gb.device('cpu:0', function() return gb.ones { 2 } end):pin_memory():sum():item())";
  EXPECT_EQ(run_script(pin, {"--device", "gpu:1"}, "0").out, "2.0\n");
  EXPECT_EQ(contexts(), "1");
  EXPECT_EQ(run_script(pin, {"--device", "cpu:0"}, "0,1").out, "2.0\n") << "the first that can be used";
  EXPECT_EQ(contexts(), "2");
}

TEST_F(CudaContextProgramTest, SettingsNameTheDevicesThatTheyAreFor) {
  for (const std::string settings :
       {"gb.config.set_logical_devices('cpu:0', { { threads = 1 }, { threads = 1 } })",
        "gb.config.set_logical_devices('gpu:1', { { memory_limit = 1e8 } })",
        "gb.config.set_memory_growth('gpu:1', false)", "gb.config.set_memory_limit('gpu:1', 1e8)"}) {
    EXPECT_EQ(run_script(settings + " " + sum_of_ones, {}, "0").out, "2.0\tgpu:1\n") << settings;
  }
  EXPECT_THAT(run_script("gb.config.set_memory_growth('gpu:0', false) gb.ones { 2 }", {}, "0").err, HasSubstr(held(0)));
}

TEST_F(CudaContextProgramTest, WhatHasFailedIsListedNoMore) {
  const Ended ended = run_script(
      "print(pcall(gb.device, 'gpu:0', print)) "
      "print(#gb.config.list_logical_devices 'GPU', #gb._native.unusable_gpus())",
      {}, "0");
  EXPECT_THAT(ended.out, AllOf(StartsWith("false\t"), HasSubstr("\n3\t1\n")));
}

TEST_F(CudaContextProgramTest, ADryRunUsesNoGpuWhereAnAxisNamesDevices) {
  std::string script = sums_by_device;
  script.replace(script.find("gb.devices()"), std::string("gb.devices()").size(), "{ 'gpu:2', 'cpu:0' }");
  EXPECT_EQ(run_script(script, {"--dry-run"}).status, 0);
  EXPECT_EQ(contexts(), "");
}

TEST_F(CudaContextProgramTest, PreflightNamesTheGpusThatCanBeUsed) {
  const Ended ended = run_program({GPUBENCH_SOURCE_DIR "/lua/gpubench/night/preflight.lua"}, file("").parent_path(),
                                  {"CUDA_ON_CPU_GPUS=3", "CUDA_ON_CPU_TAKEN=1"});
  EXPECT_THAT(ended.out, AllOf(HasSubstr("gpu:0\tfree_memory_bytes"), HasSubstr("gpu:2\tfree_memory_bytes"),
                               Not(HasSubstr("gpu:1\t")), HasSubstr("\tdevices\tGPU 1 (CUDA on the CPU) cannot")));
}

}  // namespace
}  // namespace gpubench
