// Executors on a GPU: recordings, input slots, copies between devices, and what happens when memory or the GPU fails.
// The streams of the CUDA on the CPU run as late as they may, so a step that forgets to wait computes wrong values.
#include <array>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <vector>

#include "core/base/error.h"
#include "core/exec/executor.h"
#include "core/ops/binary.h"
#include "core/ops/matmul.h"
#include "core/ops/state.h"
#include "tests/support/cuda_on_cpu/gpu.h"

namespace gpubench {
namespace {

using testing::Each;
using testing::HasSubstr;
using testing::ThrowsMessage;

const DeviceId gpu{DeviceId::Kind::gpu, 0, {}}, cpu{};

HostTensor filled(Shape shape, float value) {
  HostTensor tensor(TensorType{std::move(shape), Dtype::f32});
  for (float& element : tensor.values<float>()) element = value;
  return tensor;
}

class CudaExecutionTest : public testing::Test {
 protected:
  Devices devices_{DeviceConfig{}};
  Runtime runtime_{devices_};
};

/// total += x; y = x times total: a step that reads an input and changes a variable.
struct Accumulation {
  explicit Accumulation(Runtime& runtime, Execution execution) {
    total = runtime.variables().create("total", filled({64}, 0), gpu);
    Graph graph;
    graph.set_device(gpu);
    const Value x = graph.input({{64}, Dtype::f32}, "x");
    const Value sum = ops::assign_add(graph, graph.variable(total), x);
    const Value y = ops::mul(graph, x, sum);
    executor = make_executor(runtime, std::move(graph), {y}, {.execution = execution, .passes = {}});
  }
  VariablePtr total;
  std::unique_ptr<Executor> executor;
};

/// Runs steps whose inputs are overwritten as early as the executor allows it.
std::vector<float> run_steps(Executor& executor, int steps) {
  std::vector<HostTensor> ring;
  for (int i = 0; i <= executor.inputs_in_flight(); ++i) ring.push_back(filled({64}, 0));
  std::vector<float> results;
  for (int step = 1; step <= steps; ++step) {
    HostTensor& input = ring[static_cast<std::size_t>(step) % ring.size()];
    for (float& element : input.values<float>()) element = static_cast<float>(step);
    const std::array views{input.view()};
    executor.run(views);
    if (step % 3 == 0) results.push_back(executor.read(0).values<float>()[17]);
  }
  executor.read(0);  // waits for the copies of inputs that end here
  return results;
}

TEST_F(CudaExecutionTest, StepsOfAGraphSeeTheirOwnInputs) {
  Accumulation work(runtime_, Execution::graph);
  EXPECT_EQ(work.executor->inputs_in_flight(), 2);
  EXPECT_THAT(run_steps(*work.executor, 9), testing::ElementsAre(3 * 6, 6 * 21, 9 * 45));
  EXPECT_THAT(runtime_.variables().read(*work.total).values<float>(), Each(45.0F));
}

TEST_F(CudaExecutionTest, CopiesThatAreAheadOfKernelsDoNotOverwriteTheirInputs) {
  cuda_on_cpu::machine().hurry = true;
  Accumulation work(runtime_, Execution::graph);
  cuda_on_cpu::machine().hurry = false;
  EXPECT_THAT(run_steps(*work.executor, 9), testing::ElementsAre(3 * 6, 6 * 21, 9 * 45));
}

TEST_F(CudaExecutionTest, EagerStepsDoTheSame) {
  Accumulation work(runtime_, Execution::eager);
  EXPECT_THAT(run_steps(*work.executor, 9), testing::ElementsAre(3 * 6, 6 * 21, 9 * 45));
}

TEST_F(CudaExecutionTest, ARecordedStepIsOneLaunchAndOneCopy) {
  Accumulation work(runtime_, Execution::graph);
  run_steps(*work.executor, 4);  // the first loads kernels, the next record both input slots
  runtime_.synchronize();
  const std::size_t launches = cuda_on_cpu::launches(), kernels = cuda_on_cpu::kernels_run();
  const HostTensor input = filled({64}, 1);
  const std::array views{input.view()};
  for (int i = 0; i < 5; ++i) work.executor->run(views);
  runtime_.synchronize();
  EXPECT_EQ(cuda_on_cpu::launches() - launches, 10U);
  EXPECT_EQ(cuda_on_cpu::kernels_run() - kernels, 15U);  // a copy and two kernels a step
}

TEST_F(CudaExecutionTest, AGraphMayCrossDevices) {
  const VariablePtr weights = runtime_.variables().create("weights", filled({8, 8}, 2), gpu);
  for (const Execution execution : {Execution::graph, Execution::eager}) {
    Graph graph;
    graph.set_device(cpu);
    const Value x = graph.input({{4, 8}, Dtype::f32}, "x");
    const Value before = ops::add(graph, x, x);
    graph.set_device(gpu);
    const Value product = ops::matmul(graph, before, graph.variable(weights));
    graph.set_device(cpu);
    const Value y = ops::mul(graph, product, product);
    const auto executor = make_executor(runtime_, std::move(graph), {y}, {.execution = execution, .passes = {}});
    for (int step = 1; step <= 6; ++step) {
      const HostTensor input = filled({4, 8}, static_cast<float>(step));
      const std::array views{input.view()};
      executor->run(views);
      const auto expected = static_cast<float>(32 * step * 32 * step);
      EXPECT_THAT(executor->read(0).values<float>(), Each(expected)) << to_string(execution) << " step " << step;
    }
  }
}

TEST_F(CudaExecutionTest, InputsMayLieOnTheGpu) {
  const VariablePtr source = runtime_.variables().create("source", filled({64}, 3), gpu);
  Graph graph;
  graph.set_device(gpu);
  const Value x = graph.input({{64}, Dtype::f32}, "x");
  const Value y = ops::add(graph, x, x);
  const auto executor = make_executor(runtime_, std::move(graph), {y},
                                      {.execution = Execution::graph, .passes = {}, .inputs_on_device = true});
  const std::array views{runtime_.variables().view(*source)};
  for (int step = 0; step < 4; ++step) {
    executor->run(views);
    EXPECT_THAT(executor->read(0).values<float>(), Each(6.0F));
  }
}

TEST_F(CudaExecutionTest, OutOfMemoryLeavesTheGpuUsable) {
  EXPECT_THAT([&] { devices_.device(gpu).memory().allocate(std::size_t{1} << 30U, "huge"); },
              ThrowsMessage<OutOfMemory>(HasSubstr("gpu:0: out of memory: 1 GiB asked for 'huge'")));
  Accumulation work(runtime_, Execution::graph);
  EXPECT_THAT(run_steps(*work.executor, 3), testing::ElementsAre(18));
}

TEST_F(CudaExecutionTest, AFaultOfAKernelLosesTheDevice) {
  Accumulation work(runtime_, Execution::graph);
  run_steps(*work.executor, 3);
  cuda_on_cpu::fail_after(1, cudaErrorIllegalAddress);
  EXPECT_THAT([&] { run_steps(*work.executor, 3); },
              ThrowsMessage<DeviceLost>(HasSubstr("illegal memory access was encountered (cudaErrorIllegalAddress)")));
  cuda_on_cpu::mend();
}

TEST(CudaDevicesTest, OneGpuMayBeTwoLogicalOnesWithLimits) {
  const Devices devices(DeviceConfig{
      .gpus = {{{.physical = 0, .memory = {.limit = 1U << 20U}}, {.physical = 0, .memory = {.limit = 2U << 20U}}}},
      .cpus = {{}}});
  EXPECT_THAT(devices.ids(), testing::ElementsAre(gpu, DeviceId{DeviceId::Kind::gpu, 1, {}}, cpu));
  EXPECT_THROW(devices.device(gpu).memory().allocate(3U << 19U, "too much"), OutOfMemory);
  EXPECT_NO_THROW(devices.device({DeviceId::Kind::gpu, 1, {}}).memory().allocate(3U << 19U, "enough"));
}

TEST(CudaDevicesTest, LimitsAndGpusThatAreNotThereAreErrors) {
  const auto with = [](int physical, std::size_t limit) {
    return DeviceConfig{.gpus = {{{.physical = physical, .memory = {.limit = limit}}}}, .cpus = {{}}};
  };
  EXPECT_THAT([&] { Devices{with(0, std::size_t{1} << 40U)}; },
              ThrowsMessage<Error>("gpu:0: a memory limit of 1 TiB is more than the 512 MiB of CUDA on the CPU"));
  EXPECT_THAT([&] { Devices{with(3, 0)}; }, ThrowsMessage<Error>("there is no GPU 3; there is 1"));
}

TEST(CudaDevicesTest, WithoutAGpuEveryErrorSaysWhy) {
  const auto absence = [](int gpus, cudaError_t broken, const char* visible) {
    const cuda_on_cpu::Machine before = cuda_on_cpu::machine();
    cuda_on_cpu::machine().gpus = gpus;
    cuda_on_cpu::machine().broken = broken;
    if (visible != nullptr) ::setenv("CUDA_VISIBLE_DEVICES", visible, 1);
    const Devices devices(DeviceConfig{});
    ::unsetenv("CUDA_VISIBLE_DEVICES");
    cuda_on_cpu::machine() = before;
    EXPECT_THAT(devices.ids(), testing::ElementsAre(cpu));
    EXPECT_THAT([&] { devices.device(gpu); },
                ThrowsMessage<Error>("there is no device gpu:0; there is cpu:0: " + devices.gpu_absence()));
    return devices.gpu_absence();
  };
  EXPECT_EQ(absence(0, cudaErrorInsufficientDriver, nullptr), "no NVIDIA driver is loaded (libcuda.so.1)");
  EXPECT_EQ(absence(0, cudaSuccess, nullptr), "the NVIDIA driver finds no GPU");
  EXPECT_EQ(absence(0, cudaSuccess, ""), "CUDA_VISIBLE_DEVICES is empty, which hides every GPU");
  EXPECT_EQ(absence(0, cudaSuccess, "99"), "CUDA_VISIBLE_DEVICES=99 names no GPU of this machine");
  EXPECT_THAT(absence(1, cudaErrorInitializationError, nullptr), HasSubstr("the NVIDIA driver cannot be used: "));
}

}  // namespace
}  // namespace gpubench
