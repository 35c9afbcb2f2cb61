// Executors on a GPU: recordings, input slots, copies between devices, and what happens when memory or the GPU fails.
// The streams of the CUDA on the CPU run as late as they may, so a step that forgets to wait computes wrong values.
#include <array>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <vector>

#include "core/data/source/from_tensor_slices.h"
#include "core/data/stage/batch.h"
#include "core/data/stage/by_position.h"
#include "core/data/stage/prefetch.h"
#include "core/data/stage/shuffle.h"
#include "core/device/device.h"
#include "core/exec/eager.h"
#include "core/exec/executor.h"
#include "core/experiment/kernels/copy_peak.h"
#include "core/ops/elementwise.h"
#include "core/ops/matmul.h"
#include "core/ops/state.h"
#include "tests/support/cuda_on_cpu/gpu.h"
#include "tests/support/device_configs.h"
#include "tests/support/expect_error.h"

namespace gpubench::execution_test {
namespace {

using testing::Each;
using testing::HasSubstr;

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
  explicit Accumulation(Runtime& runtime, Execution execution, int input_slots = 2) {
    total = runtime.variables().create("total", filled({64}, 0), gpu);
    Graph graph;
    graph.set_device(gpu);
    const Value x = graph.input({{64}, Dtype::f32}, "x");
    const Value sum = ops::assign_add(graph, graph.variable(total), x);
    const Value y = ops::mul(graph, x, sum);
    executor = make_executor(runtime, std::move(graph), {y},
                             {.execution = execution, .passes = {}, .input_slots = input_slots});
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

TEST_F(CudaExecutionTest, OneInputSlotIsReadBeforeItIsFilledAgain) {
  Accumulation work(runtime_, Execution::graph, 1);
  EXPECT_EQ(work.executor->inputs_in_flight(), 1);
  EXPECT_THAT(run_steps(*work.executor, 9), testing::ElementsAre(3 * 6, 6 * 21, 9 * 45));
  EXPECT_ERROR("an executor takes 1 or 2 input slots, got 3", Accumulation(runtime_, Execution::graph, 3));
}

TEST_F(CudaExecutionTest, StepsAreRecordedAnewWhenATracerWantsThem) {
  Accumulation work(runtime_, Execution::graph);
  run_steps(*work.executor, 5);
  const std::size_t graphs = cuda_on_cpu::graphs_made();
  runtime_.synchronize();
  runtime_.renew_recordings();
  EXPECT_THAT(run_steps(*work.executor, 3), testing::ElementsAre(3 * (15 + 6)));
  EXPECT_EQ(cuda_on_cpu::graphs_made() - graphs, 2U);  // one for each input slot
}

TEST_F(CudaExecutionTest, BatchesLieInPageLockedMemoryWhereTheGpuWantsThem) {
  MemoryPool& pinned = *devices_.device(gpu).host_memory();
  EXPECT_EQ(devices_.device(cpu).host_memory(), nullptr);
  const DatasetPtr numbers = from_tensor_slices({filled({12, 64}, 1)});
  {
    const auto cursor = prefetch(take(batch(numbers, 4), 2), 2)->open(0, {.memory = &pinned});
    Element element;
    ASSERT_TRUE(cursor->next(element));
    EXPECT_GE(pinned.use().in_use, 4U * 64 * sizeof(float));
    Accumulation work(runtime_, Execution::graph);
    const HostTensor row = element[0].rows(0, 1).reshaped({64});
    const std::array views{row.view()};
    work.executor->run(views);
    EXPECT_THAT(work.executor->read(0).values<float>(), Each(1.0F));
  }
  EXPECT_EQ(pinned.use().in_use, 0U);
  // A shuffle's buffer may be large, so what flows through it stays in ordinary memory.
  const auto cursor = shuffle(batch(numbers, 4), {.buffer = 2, .seed = 1})->open(0, {.memory = &pinned});
  Element element;
  ASSERT_TRUE(cursor->next(element));
  EXPECT_EQ(pinned.use().in_use, 0U);
}

TEST_F(CudaExecutionTest, PinnedTensorsAreCopiesOnTheHost) {
  Eager eager(runtime_);
  const Tensor plain = eager.upload(filled({8}, 5), cpu);
  const Tensor pinned = eager.pin(plain);
  EXPECT_EQ(pinned.device(), cpu);
  EXPECT_NE(pinned.view().data, plain.view().data);
  EXPECT_GT(devices_.device(gpu).host_memory()->use().in_use, 0U);
  EXPECT_EQ(eager.on_host(pinned).data(), pinned.view().data);
  const Tensor moved = eager.transfer(pinned, gpu);
  EXPECT_THAT(eager.download(moved).values<float>(), Each(5.0F));
  EXPECT_ERROR(
      "pin_memory: the tensor is in the memory of gpu:0; only "
      "memory of the host can be page-locked",
      eager.pin(moved));
}

TEST_F(CudaExecutionTest, CopyRatesAreMeasuredInAllDirections) {
  Device& device = devices_.device(gpu);
  const std::optional<CopyRates> rates = best_copy_rates(device);  // in smaller blocks than a GPU's 512 MiB
  ASSERT_TRUE(rates.has_value());
  EXPECT_GT(rates->on_device, 0);
  EXPECT_GT(rates->to_device.value_or(0), 0);
  EXPECT_GT(rates->from_device.value_or(0), 0);
  EXPECT_EQ(device.memory().use().reserved, 0U);
  EXPECT_EQ(device.host_memory()->use().reserved, 0U);
  const Buffer rest = device.memory().allocate(std::size_t{400} << 20, "others");
  EXPECT_FALSE(best_copy_rates(device).has_value());
}

TEST_F(CudaExecutionTest, InputsAreDoneWithOnceWaitedFor) {
  Accumulation work(runtime_, Execution::graph);
  HostTensor input = filled({64}, 3);
  const std::array views{input.view()};
  work.executor->run(views);
  work.executor->wait_for_inputs();
  for (float& element : input.values<float>()) element = 100;
  EXPECT_THAT(work.executor->read(0).values<float>(), Each(9.0F));
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

TEST(CudaMemory, WithoutGrowthAndLimitMostOfWhatIsFreeIsTakenAtOnce) {
  const Devices devices(support::gpu_devices({{.memory = {.growth = false}}}));
  MemoryPool& memory = devices.device(gpu).memory();
  EXPECT_EQ(memory.use().reserved, 0U);
  const Buffer buffer = memory.allocate(1024, "first");
  EXPECT_GT(memory.use().reserved, std::size_t{400} << 20);
  EXPECT_LT(memory.use().reserved, std::size_t{512} << 20);
  EXPECT_THROW(memory.allocate(std::size_t{500} << 20, "all of it"), OutOfMemory);
}

TEST_F(CudaExecutionTest, OutOfMemoryLeavesTheGpuUsable) {
  EXPECT_ERROR_OF(OutOfMemory, HasSubstr("gpu:0: out of memory: 1 GiB asked for 'huge'"),
                  devices_.device(gpu).memory().allocate(std::size_t{1} << 30U, "huge"));
  Accumulation work(runtime_, Execution::graph);
  EXPECT_THAT(run_steps(*work.executor, 3), testing::ElementsAre(18));
}

TEST_F(CudaExecutionTest, AFaultOfAKernelLosesTheDevice) {
  Accumulation work(runtime_, Execution::graph);
  run_steps(*work.executor, 3);
  cuda_on_cpu::fail_after(1, cudaErrorIllegalAddress);
  EXPECT_ERROR_OF(DeviceLost, HasSubstr("illegal memory access was encountered (cudaErrorIllegalAddress)"),
                  run_steps(*work.executor, 3));
  cuda_on_cpu::mend();
}

TEST_F(CudaExecutionTest, AGpuThatIsLostInACaptureIsNamedAsLost) {
  Accumulation work(runtime_, Execution::graph);
  cuda_on_cpu::fail_in_capture(0, cudaErrorIllegalAddress);
  EXPECT_ERROR_OF(DeviceLost,
                  testing::StartsWith("CUDA: the recording of a graph failed: an illegal memory access "
                                      "was encountered (cudaErrorIllegalAddress)"),
                  run_steps(*work.executor, 6));
  cuda_on_cpu::mend();
  Accumulation again(runtime_, Execution::graph);
  EXPECT_THAT(run_steps(*again.executor, 6), testing::ElementsAre(18, 6 * 21)) << "no capture is left open";
}

}  // namespace
}  // namespace gpubench::execution_test
