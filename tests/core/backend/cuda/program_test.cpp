// The whole program where there is no GPU, and where one is lost in the middle of a sweep.
#include "tests/lua/host/program.h"

#include <cstdlib>
#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/files.h"

namespace gpubench {
namespace {

using testing::AllOf;
using testing::AnyOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class CudaProgramTest : public TemporaryFolder {
 protected:
  CudaProgramTest() { ::unsetenv("CUDA_VISIBLE_DEVICES"); }  // hidden from other tests
  Ended run(const std::vector<std::string>& arguments, const std::vector<std::string>& environment) const {
    return run_program(arguments, file("").parent_path(), environment);
  }
  /// Text of the only results.csv.
  std::string rows() const {
    std::string csv;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(file("results"))) {
      if (entry.path().filename() == "results.csv") csv = contents(entry.path());
    }
    return csv;
  }
};

TEST_F(CudaProgramTest, DevicesSaysWhyThereIsNoGpu) {
  const auto devices = [&](const std::vector<std::string>& environment) {
    const Ended ended = run({"devices"}, environment);
    EXPECT_EQ(ended.status, 0) << ended.err;
    EXPECT_THAT(ended.out, StartsWith("cpu:0"));
    return ended.out;
  };
  EXPECT_THAT(devices({"CUDA_ON_CPU_GPUS=no_driver"}), AnyOf(HasSubstr("\nno GPU: no NVIDIA driver is loaded ("),
                                                             HasSubstr("libcuda.so.1"), HasSubstr("/dev/nv")));
  EXPECT_THAT(devices({"CUDA_ON_CPU_GPUS=0"}), HasSubstr("\nno GPU: the NVIDIA driver finds no GPU"));
  EXPECT_THAT(devices({"CUDA_ON_CPU_GPUS=0", "CUDA_VISIBLE_DEVICES="}),
              HasSubstr("\nno GPU: CUDA_VISIBLE_DEVICES is empty, which hides every GPU; unset "));
  EXPECT_THAT(devices({"CUDA_ON_CPU_GPUS=0", "CUDA_VISIBLE_DEVICES=7"}),
              HasSubstr("\nno GPU: CUDA_VISIBLE_DEVICES=7 names no GPU of this machine; unset "));
}

/// A problem as `gpubench doctor` prints it.
std::string problem(const std::string& name, const std::string& found, const std::string& costs,
                    const std::string& remedy) {
  return name + ": " + found + "\n    costs   " + costs + "\n    remedy  " + remedy + "\n";
}

TEST_F(CudaProgramTest, ADriverThatIsTooOldIsNamedByEveryCommand) {
  const std::string reason = "the NVIDIA driver is for CUDA 12.8, this program needs one for CUDA 13.0";
  const std::string remedy = "install an NVIDIA driver for CUDA 13 or later (nvidia-smi shows its CUDA version)";
  const std::vector<std::string> environment{"CUDA_ON_CPU_DRIVER=12080"};
  EXPECT_THAT(run({"devices"}, environment).out, HasSubstr("\nno GPU: " + reason + "; " + remedy + "\n"));
  write("sum.lua", "print(require('gpubench').ones({ 2 }):sum():item())");
  EXPECT_THAT(run({"sum.lua", "--device", "gpu:0"}, environment).err,
              HasSubstr("there is no device gpu:0; there is cpu:0: " + reason + "; " + remedy));
  EXPECT_THAT(run({"doctor"}, environment).out,
              HasSubstr(problem("driver", reason, "no GPU can be used; training runs on the CPU", remedy)));
}

TEST_F(CudaProgramTest, AGpuInExclusiveModeIsNamedByEveryCommand) {
  const std::string reason =
      "GPU 0 (CUDA on the CPU) cannot be used: it is in exclusive mode, and another process holds it";
  const std::string remedy =
      "end that process (nvidia-smi shows it), or allow several: nvidia-smi -i 00000000:01:00.0 -c DEFAULT, as root";
  const std::vector<std::string> environment{"CUDA_ON_CPU_TAKEN=0"};
  EXPECT_THAT(run({"devices"}, environment).out, HasSubstr("\nno GPU: " + reason + "; " + remedy + "\n"));
  EXPECT_THAT(run({"doctor"}, environment).out,
              HasSubstr(problem("devices", reason, "training runs on the CPU", remedy)));
  const Ended two = run({"devices"}, {"CUDA_ON_CPU_TAKEN=0", "CUDA_ON_CPU_GPUS=2"});
  EXPECT_THAT(two.out, AllOf(StartsWith("gpu:1  CUDA on the CPU"), HasSubstr("\n" + reason + "; " + remedy + "\n")));
  EXPECT_THAT(run({"doctor"}, {"CUDA_ON_CPU_TAKEN=0", "CUDA_ON_CPU_GPUS=2"}).out,
              HasSubstr(problem("devices", reason, "training uses the other GPUs only", remedy)));
}

TEST_F(CudaProgramTest, DevicesListsGpusFirst) {
  const Ended ended = run({"devices"}, {"CUDA_ON_CPU_GPUS=2"});
  EXPECT_THAT(ended.out, AllOf(StartsWith("gpu:0  CUDA on the CPU, 512 MiB, compute capability 9.0\n"),
                               HasSubstr("\ngpu:1  "), HasSubstr("\ncpu:0  "), Not(HasSubstr("no GPU"))));
}

TEST_F(CudaProgramTest, ASliceOfAGpuIsDescribedAsSuch) {
  const Ended ended = run({"devices"}, {"CUDA_ON_CPU_NAME=NVIDIA H100 80GB HBM3 MIG 1g.10gb"});
  EXPECT_THAT(ended.out, StartsWith("gpu:0  NVIDIA H100 80GB HBM3 MIG 1g.10gb, 512 MiB, 2 of 132 multiprocessors, "
                                    "compute capability 9.0\n"));
}

constexpr const char* sweep = R"(
local gb = require "gpubench"
gb.experiment {
  name = "sums", title = "Sums",
  axes = { gb.axis("size", { 16, 32, 64 }) },
  run = function(point)
    local sum = 0
    for _ = 1, 10 do sum = sum + gb.ones({ point.size }):sum():item() end
    return { sum = sum }
  end,
  columns = { "sum" },
}
)";

// The largest element of a product and of a convolution of ones and 1 + 2^-12, by their number of terms, and of a sum.
constexpr const char* arithmetic = R"(
local fine = 1 + 2 ^ -12
local model = gb.Sequential { gb.layers.Conv2D(8, 1, { use_bias = false, input_shape = { 4, 4, 8 } }) }
model:set_weights { gb.ones { 1, 1, 8, 8 } }
print(gb.matmul(gb.full({ 8, 8 }, fine), gb.ones { 8, 8 }):max():item() / 8,
  model(gb.full({ 1, 4, 4, 8 }, fine)):max():item() / 8, (gb.full({ 8 }, fine) + 1):max():item())
)";

TEST_F(CudaProgramTest, Float32IsRoundedToTf32InProductsAloneAndWhereThatIsAllowed) {
  const auto run_with = [&](const std::string& setting) {
    write("arithmetic.lua", "local gb = require 'gpubench'\n" + setting + arithmetic);
    const Ended ended = run({"arithmetic.lua", "--device", "gpu:0"}, {"CUDA_ON_CPU_GPUS=1"});
    EXPECT_EQ(ended.status, 0) << ended.err;
    return ended.out;
  };
  EXPECT_EQ(run_with(""), "1.000244140625\t1.000244140625\t2.000244140625\n");
  EXPECT_EQ(run_with("gb.config.set_tf32(false)"), "1.000244140625\t1.000244140625\t2.000244140625\n");
  EXPECT_EQ(run_with("gb.config.set_tf32(true)"), "1.0\t1.0\t2.000244140625\n");
}

TEST_F(CudaProgramTest, ADeviceThatIsNotThereIsAnErrorThatSaysWhy) {
  write("sweep.lua", sweep);
  const Ended ended = run({"sweep.lua", "--device", "gpu:0"}, {"CUDA_ON_CPU_GPUS=no_driver"});
  EXPECT_EQ(ended.status, 2);
  EXPECT_THAT(ended.err, HasSubstr("there is no device gpu:0; there is cpu:0: no NVIDIA driver is loaded"));
}

TEST_F(CudaProgramTest, TheExperimentOnVisibleDevicesJudgesWhatItWasStartedWith) {
  const std::string script = GPUBENCH_SOURCE_DIR "/experiments/visible_devices.lua";
  const auto verdict = [&](const std::vector<std::string>& environment) {
    const Ended ended = run({script, "--quick", "--set", "kind=gpu", "--set", "visible=0,environment"}, environment);
    EXPECT_EQ(ended.status, 0) << ended.err;
    const std::string claim = ": as many GPUs are listed as CUDA_VISIBLE_DEVICES names";
    const std::size_t end = ended.out.find(claim);
    const std::size_t begin = ended.out.rfind('\n', end);
    return end == std::string::npos ? ended.out : ended.out.substr(begin + 1, end - begin - 1);
  };
  EXPECT_THAT(verdict({"CUDA_ON_CPU_GPUS=3", "CUDA_VISIBLE_DEVICES=2,0"}), HasSubstr("confirmed"));
  EXPECT_THAT(verdict({"CUDA_ON_CPU_GPUS=3", "CUDA_VISIBLE_DEVICES=1"}), HasSubstr("confirmed"));
  EXPECT_THAT(verdict({"CUDA_ON_CPU_GPUS=3", "CUDA_VISIBLE_DEVICES=1,7"}), HasSubstr("refuted"));
  EXPECT_THAT(verdict({"CUDA_ON_CPU_GPUS=3"}), HasSubstr("not measurable here"));
}

// The second point trains, on as many GPUs as there are.
constexpr const char* training = R"(
local gb = require "gpubench"
gb.experiment {
  name = "trained", title = "Trained",
  axes = { gb.axis("length", { 0, 100, 200 }) },
  run = function(point)
    if point.length == 0 then return { done = 1 } end
    local strategy = gb.distribute.MirroredStrategy {}
    local model = strategy:scope(function()
      local one = gb.Sequential { gb.layers.Dense(4, { input_shape = { 8 } }), gb.layers.Dense(2) }
      one:compile { optimizer = "sgd", loss = "mse" }
      return one
    end)
    model:fit(gb.ones { 8 * point.length, 8 }, gb.ones { 8 * point.length, 2 }, { batch_size = 8, verbose = 0 })
    return { done = 1 }
  end,
  columns = { "done" },
}
)";

TEST_F(CudaProgramTest, ADeviceThatIsLostInACaptureEndsTheSweepWithItsRowsKept) {
  write("training.lua", training);
  const Ended ended = run({"training.lua"}, {"CUDA_ON_CPU_FAULT_IN_CAPTURE=2"});
  EXPECT_EQ(ended.status, 2);
  EXPECT_THAT(ended.err, AllOf(HasSubstr("CUDA: the recording of a graph failed: an illegal memory access was "
                                         "encountered (cudaErrorIllegalAddress)"),
                               HasSubstr("this process can use the device no more: 1 point not measured")));
  EXPECT_THAT(rows(), AllOf(HasSubstr(",ok,"), HasSubstr(",error,")));
}

TEST_F(CudaProgramTest, ADeviceThatIsLostInTheLastPointLeavesNoPointUnmeasured) {
  write("training.lua", training);
  const Ended ended = run({"training.lua", "--set", "length=100"}, {"CUDA_ON_CPU_FAULT_IN_CAPTURE=2"});
  EXPECT_EQ(ended.status, 2);
  EXPECT_THAT(ended.err, AllOf(HasSubstr("illegal memory access"), Not(HasSubstr("not measured"))));
}

TEST_F(CudaProgramTest, AGpuThatIsLostAmongOthersIsNamedWithItsRank) {
  write("training.lua", training);
  const Ended ended =
      run({"training.lua"}, {"CUDA_ON_CPU_GPUS=2", "CUDA_ON_CPU_FAULT_AFTER=150", "CUDA_ON_CPU_FAULT_GPU=1"});
  EXPECT_EQ(ended.status, 2);
  EXPECT_THAT(ended.err,
              AllOf(ContainsRegex("length=100: error: .*gpu:1: a step of rank 1 of 2 failed: CUDA: .* failed: "
                                  "an illegal memory access was encountered \\(cudaErrorIllegalAddress\\)"),
                    HasSubstr("this process can use the device no more: 1 point not measured")));
  EXPECT_THAT(rows(), AllOf(HasSubstr(",ok,"), HasSubstr(",error,")));
}

TEST_F(CudaProgramTest, ALostDeviceEndsTheSweepWithItsRowsKept) {
  write("sweep.lua", sweep);
  const Ended ended = run({"sweep.lua"}, {"CUDA_ON_CPU_FAULT_AFTER=60"});
  EXPECT_EQ(ended.status, 2);
  EXPECT_THAT(ended.err, AllOf(HasSubstr("illegal memory access was encountered"),
                               HasSubstr("this process can use the device no more: 1 point not measured")));
  EXPECT_THAT(rows(), AllOf(HasSubstr("sums,1,"), HasSubstr(",ok,"), HasSubstr("sums,2,"), HasSubstr(",error,"),
                            Not(HasSubstr("sums,3,"))));
}

}  // namespace
}  // namespace gpubench
