// Executors on a GPU: recordings, input slots, copies between devices, and what happens when memory or the GPU fails.
// The streams of the CUDA on the CPU run as late as they may, so a step that forgets to wait computes wrong values.
#include <array>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <vector>

#include "core/backend/cuda/status.h"
#include "core/data/source/from_tensor_slices.h"
#include "core/data/stage/batch.h"
#include "core/data/stage/by_position.h"
#include "core/data/stage/prefetch.h"
#include "core/data/stage/shuffle.h"
#include "core/device/device.h"
#include "core/exec/eager.h"
#include "core/exec/executor.h"
#include "core/experiment/kernels/copy_peak.h"
#include "core/nvidia/gpu_fault.h"
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
    const HostTensor row = element[0].row(0);
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

TEST(CudaDevicesTest, OneGpuMayBeTwoLogicalOnesWithLimits) {
  const Devices devices(support::gpu_devices({{.memory = {.limit = 1U << 20U}}, {.memory = {.limit = 2U << 20U}}}));
  EXPECT_THAT(devices.ids(), testing::ElementsAre(gpu, DeviceId{DeviceId::Kind::gpu, 1, {}}, cpu));
  EXPECT_THROW(devices.device(gpu).memory().allocate(3U << 19U, "too much"), OutOfMemory);
  EXPECT_NO_THROW(devices.device({DeviceId::Kind::gpu, 1, {}}).memory().allocate(3U << 19U, "enough"));
}

TEST(CudaDevicesTest, LimitsAndGpusThatAreNotThereAreErrors) {
  const auto with = [](int physical, std::size_t limit) {
    return support::gpu_devices({{.physical = physical, .memory = {.limit = limit}}});
  };
  EXPECT_ERROR("gpu:0: a memory limit of 1 TiB is more than the 512 MiB of CUDA on the CPU",
               Devices{with(0, std::size_t{1} << 40U)});
  EXPECT_ERROR("there is no GPU 3; there is 1", Devices{with(3, 0)});
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
    EXPECT_ERROR("there is no device gpu:0; there is cpu:0: " + to_string(devices.absence(DeviceId::Kind::gpu)),
                 devices.device(gpu));
    return to_string(devices.absence(DeviceId::Kind::gpu));
  };
  // What the machine's own files show follows.
  const auto fault = driver_fault();
  EXPECT_EQ(absence(0, cudaErrorInsufficientDriver, nullptr),
            fault ? to_string(fault)
                  : "the NVIDIA driver's library libcuda.so.1 cannot be opened; install the libraries of the driver's "
                    "version; in a container, use the NVIDIA runtime");
  EXPECT_THAT(absence(0, cudaSuccess, nullptr), testing::StartsWith("the NVIDIA driver finds no GPU"));
  const std::string unset = "; unset CUDA_VISIBLE_DEVICES, or name GPUs ";
  EXPECT_EQ(absence(0, cudaSuccess, ""),
            "CUDA_VISIBLE_DEVICES is empty, which hides every GPU" + unset + "in it: CUDA_VISIBLE_DEVICES=0");
  EXPECT_EQ(absence(0, cudaSuccess, "-1"),
            "CUDA_VISIBLE_DEVICES=-1 hides every GPU" + unset + "in it: CUDA_VISIBLE_DEVICES=0");
  EXPECT_EQ(absence(0, cudaSuccess, "99"),
            "CUDA_VISIBLE_DEVICES=99 names no GPU of this machine" + unset + "that nvidia-smi -L lists");
  EXPECT_THAT(absence(1, cudaErrorInitializationError, nullptr), HasSubstr("the NVIDIA driver cannot be used: "));
  EXPECT_EQ(absence(1, cudaErrorSystemNotReady, nullptr),
            "the NVIDIA driver cannot be used: the service that connects the GPUs over NVSwitch is not running "
            "(cudaErrorSystemNotReady); start it: systemctl start nvidia-fabricmanager, as root");
}

TEST(CudaDevices, WithoutAGpuToHideTheReasonIsTheMachines) {
  const DeviceConfig none{{DeviceId::Kind::gpu, {.devices = std::vector<LogicalDevice>{}}}};
  EXPECT_EQ(to_string(Devices{none}.absence(DeviceId::Kind::gpu)),
            "the script hides all GPUs (gb.config.set_visible_devices); name GPUs in that call, or leave it out");
  const cuda_on_cpu::Machine before = cuda_on_cpu::machine();
  cuda_on_cpu::machine().gpus = 0;
  const Devices devices(none);
  cuda_on_cpu::machine() = before;
  EXPECT_THAT(to_string(devices.absence(DeviceId::Kind::gpu)), testing::StartsWith("the NVIDIA driver finds no GPU"));
}

TEST(CudaDevices, ADriverForAnOlderCudaIsNamed) {
  const cuda_on_cpu::Machine before = cuda_on_cpu::machine();
  cuda_on_cpu::machine().driver = 12080;
  const Devices devices{DeviceConfig{}};
  cuda_on_cpu::machine() = before;
  const auto fault = devices.absence(DeviceId::Kind::gpu);
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->reason,
            "the NVIDIA driver is for CUDA 12.8, this program needs one for CUDA " + cuda_text(CUDART_VERSION));
  EXPECT_EQ(fault->remedy, "install an NVIDIA driver for CUDA 13 or later (nvidia-smi shows its CUDA version)");
}

/// What a GPU that cannot be used is called, where it is the only one.
std::string unusable(cudaError_t error, cudaComputeMode mode) {
  const cuda_on_cpu::Machine before = cuda_on_cpu::machine();
  cuda_on_cpu::machine().taken = {0};
  cuda_on_cpu::machine().taken_error = error;
  cuda_on_cpu::machine().compute_mode = mode;
  const Devices devices{DeviceConfig{}};
  EXPECT_EQ(devices.default_device(), cpu);
  cuda_on_cpu::machine() = before;
  EXPECT_THAT(devices.ids(), testing::ElementsAre(cpu));
  return to_string(devices.absence(DeviceId::Kind::gpu));
}

TEST(CudaDevices, AContextThatCannotBeMadeSaysWhyAndWhatToDo) {
  const std::string gpu_0 = "GPU 0 (CUDA on the CPU) cannot be used: ";
  EXPECT_EQ(
      unusable(cudaErrorDevicesUnavailable, cudaComputeModeExclusiveProcess),
      gpu_0 +
          "it is in exclusive mode, and another process holds it; end that process (nvidia-smi shows it), or allow "
          "several: nvidia-smi -i 00000000:01:00.0 -c DEFAULT, as root");
  EXPECT_EQ(unusable(cudaErrorDevicesUnavailable, cudaComputeModeDefault),
            gpu_0 +
                "it is busy or unavailable (cudaErrorDevicesUnavailable); end the process that holds it (nvidia-smi "
                "shows it), or choose another GPU with CUDA_VISIBLE_DEVICES");
  EXPECT_EQ(unusable(cudaErrorDevicesUnavailable, cudaComputeModeProhibited),
            gpu_0 +
                "its compute mode PROHIBITED lets no process use it; allow it: nvidia-smi -i 00000000:01:00.0 -c "
                "DEFAULT, as root");
  EXPECT_EQ(unusable(cudaErrorMemoryAllocation, cudaComputeModeDefault),
            gpu_0 +
                "no memory is left on it for the context of this process; end other processes on it (nvidia-smi shows "
                "them), or choose another GPU with CUDA_VISIBLE_DEVICES");
  EXPECT_EQ(
      unusable(cudaErrorIllegalAddress, cudaComputeModeDefault),
      gpu_0 +
          "an illegal memory access was encountered (cudaErrorIllegalAddress); look at nvidia-smi, and for NVRM in "
          "the kernel's messages: dmesg");
}

TEST(CudaDevices, KernelsThatTheGpuCannotRunSayWhatToBuild) {
  EXPECT_ERROR_OF(
      DeviceError,
      HasSubstr("(cudaErrorNoKernelImageForDevice): this program has no kernels for a GPU of its compute capability; "
                "build it with -DGPUBENCH_CUDA_ARCHITECTURES=all-major, or take the bundle ("),
      cuda::check(cudaErrorNoKernelImageForDevice, "add"));
}

TEST(CudaDevices, OneThatCannotBeUsedDoesNotKeepTheOthersFromWork) {
  const cuda_on_cpu::Machine before = cuda_on_cpu::machine();
  cuda_on_cpu::machine().gpus = 2;
  cuda_on_cpu::machine().taken = {0};
  const Devices devices{DeviceConfig{}};
  EXPECT_EQ(devices.default_device(), (DeviceId{DeviceId::Kind::gpu, 1, {}}));
  const Devices named(support::gpu_devices({{}}));
  EXPECT_ERROR(testing::StartsWith("GPU 0 (CUDA on the CPU) cannot be used: "), named.default_device());
  cuda_on_cpu::machine().gpus = 1;
  const Devices none{DeviceConfig{}};
  EXPECT_EQ(none.default_device(), cpu);
  cuda_on_cpu::machine() = before;

  EXPECT_THAT(devices.ids(), testing::ElementsAre(DeviceId{DeviceId::Kind::gpu, 1, {}}, cpu));
  EXPECT_FALSE(devices.absence(DeviceId::Kind::gpu));
  EXPECT_THAT(devices.unusable(DeviceId::Kind::gpu),
              testing::ElementsAre(
                  testing::Field(&DeviceFault::reason, testing::StartsWith("GPU 0 (CUDA on the CPU) cannot be used"))));
  EXPECT_THAT(none.ids(), testing::ElementsAre(cpu));
  EXPECT_THAT(to_string(none.absence(DeviceId::Kind::gpu)), testing::StartsWith("GPU 0 (CUDA on the CPU) cannot"));
}

}  // namespace
}  // namespace gpubench::execution_test
