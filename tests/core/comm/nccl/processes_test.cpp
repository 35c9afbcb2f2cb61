// GPUs in several processes, as a user starts them, with the CUDA and the NCCL that run on the CPU: what they train is
// what one GPU trains, and one that goes ends the others.
#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <iterator>
#include <sstream>

#include "tests/lua/host/folder.h"

namespace gpubench {
namespace {

using ::testing::AnyOf;
using ::testing::DoubleNear;
using ::testing::HasSubstr;
using ::testing::Pointwise;

/// Before the last step that it has told of, twice a second.
const std::string died = ") was lost: its process has ended; it";

/// Trains on 40 examples, the last batch of which is smaller, and prints sums of the weights. Says "started" after some
/// batches.
std::string training(const std::string& cross_device, int epochs = 6) {
  return fmt::format(R"(
local gb = require "gpubench"
local batches = 0
gb.config.set_seed(3)
local strategy = gb.distribute.MultiWorkerMirroredStrategy {{ cross_device = "{}", bucket_bytes = 256 }}
local model = strategy:scope(function()
  local model = gb.Sequential {{
    gb.layers.Dense(32, {{ activation = "relu", input_shape = {{ 784 }} }}), gb.layers.Dense(10, {{ activation = "softmax" }}),
  }}
  model:compile {{
    optimizer = gb.optimizers.SGD {{ learning_rate = 0.05, momentum = 0.9 }}, loss = "categorical_crossentropy",
  }}
  return model
end)
print("exchanged by " .. strategy.communicator)
local function tell()
  batches = batches + 1
  if batches == 8 then print "started" io.stdout:flush() end
end
model:fit(gb.datasets.mnist("train"):take(40):batch(16), {{
  epochs = {}, verbose = 0, callbacks = {{ {{ on_batch_end = tell }} }},
}})
for _, weight in ipairs(model:get_weights()) do print("sums", weight:abs():sum():item(), (weight * weight):sum():item()) end
)",
                     cross_device, epochs);
}

std::vector<double> sums_in(const std::string& text) {
  std::vector<double> sums;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("sums\t")) continue;
    std::istringstream numbers(line.substr(5));
    sums.insert(sums.end(), std::istream_iterator<double>(numbers), {});
  }
  return sums;
}

class GpusOfProcesses : public FolderTest {
 protected:
  void SetUp() override {
    setenv("CUDA_ON_CPU_GPUS", "2", 1);
    // Open MPI keeps memory to the end, in modules that are closed by then.
    setenv("ASAN_OPTIONS", "detect_leaks=0", 1);
  }
  static bool has_mpirun() { return std::system("mpirun --version > /dev/null 2>&1") == 0; }
  /// What one GPU trains.
  std::vector<double> alone() const {
    const Ended ended = run(training("automatic"));
    EXPECT_EQ(ended.status, 0) << ended.err;
    return sums_in(ended.out);
  }
  Ended by_mpirun(const std::string& script, const std::vector<std::string>& environment = {}) const {
    write("script.lua", script);
    return run_program({"script.lua", "--workers", "2"}, path(), environment);
  }
  /// Nothing of the processes' shared memory has a name any more.
  static bool left_nothing() {
    return std::ranges::none_of(std::filesystem::directory_iterator("/dev/shm"), [](const auto& entry) {
      return entry.path().filename().string().starts_with("nccl_on_cpu_");
    });
  }
  /// Of those that run in this test's folder; 0 for none.
  pid_t process_of_mpi_rank(int rank) const {
    const std::string variable = fmt::format("OMPI_COMM_WORLD_RANK={}", rank) + '\0';
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
      std::error_code other;  // a process that has ended meanwhile, or is another user's
      const std::filesystem::path folder = std::filesystem::read_symlink(entry.path() / "cwd", other);
      if (other || folder != std::filesystem::canonical(path())) continue;
      if (contents(entry.path() / "environ").find(variable) != std::string::npos)
        return std::stoi(entry.path().filename().string());
    }
    return 0;
  }
};

TEST_F(GpusOfProcesses, StartedByMpirunUpdateAsOneGpu) {
  if (!has_mpirun()) GTEST_SKIP() << "there is no mpirun";
  const std::vector<double> expected = alone();
  ASSERT_EQ(expected.size(), 8U);
  const Ended nccl = by_mpirun(training("automatic"), {"CUDA_ON_CPU_CONTEXTS=" + file("contexts").string()});
  EXPECT_EQ(nccl.status, 0) << nccl.err;
  EXPECT_THAT(contents(file("contexts")), AnyOf("0\n1\n", "1\n0\n")) << "a thread that had selected no GPU used CUDA";
  EXPECT_THAT(nccl.out, HasSubstr("exchanged by nccl 2."));
  EXPECT_THAT(sums_in(nccl.out), Pointwise(DoubleNear(1e-4), expected));
  const Ended staged = by_mpirun(training("local"));
  EXPECT_EQ(staged.status, 0) << staged.err;
  EXPECT_THAT(staged.out, HasSubstr("exchanged by mpi through host memory"));
  EXPECT_THAT(sums_in(staged.out), Pointwise(DoubleNear(1e-4), expected));
  const Ended aware = by_mpirun(training("local"), {"GPUBENCH_MPI_CUDA_AWARE=1", "CUDA_ON_CPU_OPEN=1"});
  EXPECT_EQ(aware.status, 0) << aware.err;
  EXPECT_THAT(aware.out, HasSubstr("exchanged by mpi, CUDA-aware"));
  EXPECT_THAT(sums_in(aware.out), Pointwise(DoubleNear(1e-4), expected));
}

TEST_F(GpusOfProcesses, OfTwoEachUpdateAsOneGpu) {
  if (!has_mpirun()) GTEST_SKIP() << "there is no mpirun";
  const std::vector<double> expected = alone();
  setenv("CUDA_ON_CPU_GPUS", "4", 1);
  const Ended nccl = by_mpirun(training("nccl"));
  EXPECT_EQ(nccl.status, 0) << nccl.err;
  EXPECT_THAT(sums_in(nccl.out), Pointwise(DoubleNear(1e-4), expected));
  const Ended staged = by_mpirun(training("local"));
  EXPECT_EQ(staged.status, 0) << staged.err;
  EXPECT_THAT(staged.out, HasSubstr("exchanged by local and mpi through host memory"));
  EXPECT_THAT(sums_in(staged.out), Pointwise(DoubleNear(1e-4), expected));
}

TEST_F(GpusOfProcesses, AKilledOneOfMpirunEndsTheOther) {
  if (!has_mpirun()) GTEST_SKIP() << "there is no mpirun";
  for (const std::string how : {"nccl", "local"}) {
    write("script.lua", training(how, 1'000'000));
    StartedProgram program({"script.lua", "--workers", "2"}, path());
    ASSERT_TRUE(program.wait_for("started\n"));
    const pid_t lost = process_of_mpi_rank(1);
    ASSERT_GT(lost, 0);
    kill(lost, SIGKILL);
    const Ended ended = program.end();
    EXPECT_EQ(ended.status, 2) << how;
    EXPECT_TRUE(left_nothing()) << how;
    EXPECT_THAT(ended.err, HasSubstr(fmt::format(", pid {}{}", lost, died))) << how;
  }
}

}  // namespace
}  // namespace gpubench
