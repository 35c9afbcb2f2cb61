// Which engine a convolution gets: the cuDNN that runs on the CPU proposes engines that break the rules before one that
// keeps them, and says which one ran by its number.
#include "core/ops/conv.h"

#include <array>
#include <cmath>
#include <cstring>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/backend/cuda/cuda_backend.h"
#include "core/backend/cuda/cudnn_plan.h"
#include "core/device/device.h"
#include "core/device/work_order.h"
#include "core/exec/executor.h"
#include "core/graph/gradients.h"
#include "core/ops/elementwise.h"
#include "core/ops/reduce.h"
#include "tests/support/cuda_on_cpu/gpu.h"

namespace gpubench::cuda {
namespace {

CudaBackend backend_with(bool tf32) {
  return CudaBackend(BackendConfig{.options = CudaOptions{.tf32 = tf32}});
}

std::string engine_of(const CudaBackend& backend, const Conv2DAttributes& options, Dtype dtype) {
  const Conv2D op(options);
  std::vector<TensorType> inputs = {{{2, 5, 6, 3}, dtype}, {{3, 3, 3, 5}, dtype}};
  if (options.bias) inputs.push_back({{5}, dtype});
  const std::vector<TensorType> outputs = op.infer(inputs);
  return std::string(backend.plan(op, {inputs, outputs}, *backend.devices()[0])->implementation());
}

TEST(CudaConvTest, StrictFloat32KeepsOffTensorCores) {
  EXPECT_EQ(engine_of(backend_with(false), {}, Dtype::f32), "cudnn:conv:engine 45");
  EXPECT_EQ(engine_of(backend_with(true), {}, Dtype::f32), "cudnn:conv:engine 42");
  EXPECT_EQ(engine_of(backend_with(false), {}, Dtype::bf16), "cudnn:conv:engine 42");
}

TEST(CudaConvTest, TheFastestCandidateIsTaken) {
  cuda_on_cpu::machine().engine_milliseconds = {{42, 3}, {45, 2}};
  EXPECT_EQ(engine_of(backend_with(true), {}, Dtype::f32), "cudnn:conv:engine 45") << "proposed behind engine 42";
  cuda_on_cpu::machine().engine_milliseconds = {{42, 2}, {45, 3}};
  EXPECT_EQ(engine_of(backend_with(true), {}, Dtype::f32), "cudnn:conv:engine 42");
  EXPECT_EQ(engine_of(backend_with(false), {}, Dtype::f32), "cudnn:conv:engine 45") << "the rules come first";
  cuda_on_cpu::machine().engine_milliseconds.clear();
}

TEST(CudaConvTest, NamesAnEnginesKnobs) {
  cuda_on_cpu::machine().engine_knobs = {{42, {{21, 1}, {8, -2}}}, {45, {{3, 7}}}, {0, {}}};
  EXPECT_EQ(engine_of(backend_with(false), {}, Dtype::bf16), "cudnn:conv:engine 42 (k8=-2 k21=1)");
  EXPECT_EQ(engine_of(backend_with(false), {}, Dtype::f32), "cudnn:conv:engine 45 (k3=7)");
  EXPECT_EQ(engine_of(backend_with(false), {.dilations = {2, 2}}, Dtype::f32), "cudnn:conv:engine 0");
  cuda_on_cpu::machine().engine_knobs.clear();
}

TEST(CudaConvTest, FallsBackToEnginesThatAreNotProposedFirst) {
  EXPECT_EQ(engine_of(backend_with(false), {.dilations = {2, 2}}, Dtype::f32), "cudnn:conv:engine 0");
}

TEST(CudaConvTest, SaysWhatIsFused) {
  const CudaBackend backend = backend_with(false);
  EXPECT_EQ(engine_of(backend, {.bias = true, .activation = Activation::relu}, Dtype::f16),
            "cudnn:conv+bias+relu:engine 42");
  EXPECT_EQ(engine_of(backend, {.bias = true, .activation = Activation::tanh}, Dtype::f16),
            "cudnn:conv+bias:engine 42, kernel:tanh");
  cuda_on_cpu::machine().cudnn_fuses = false;
  EXPECT_EQ(engine_of(backend_with(false), {.bias = true, .activation = Activation::relu}, Dtype::f16),
            "cudnn:conv:engine 42, kernel:bias, kernel:relu");
  cuda_on_cpu::machine().cudnn_fuses = true;
}

TEST(CudaConvTest, NamesAWorkspaceThatCouldHoldImageAndResult) {
  const auto name = [](std::int64_t batch) {
    const CudaBackend backend = backend_with(false);
    const Conv2D op;
    const std::vector<TensorType> inputs = {{{batch, 8, 8, 64}, Dtype::f32}, {{1, 1, 64, 64}, Dtype::f32}};
    const std::vector<TensorType> outputs = op.infer(inputs);
    return std::string(backend.plan(op, {inputs, outputs}, *backend.devices()[0])->implementation());
  };
  cuda_on_cpu::machine().engine_workspace_bytes = {{45, 4 << 20}};
  EXPECT_EQ(name(128), "cudnn:conv:engine 45 with 4 MiB of workspace");
  EXPECT_EQ(name(129), "cudnn:conv:engine 45") << "smaller than both";
  cuda_on_cpu::machine().engine_workspace_bytes = {{45, 512 << 10}};
  EXPECT_EQ(name(1), "cudnn:conv:engine 45") << "as small as an engine's tables";
  cuda_on_cpu::machine().engine_workspace_bytes.clear();
}

TEST(CudaConvTest, AsksOnceForEachProblem) {
  const CudaBackend backend = backend_with(false);
  const std::size_t before = cuda_on_cpu::engine_queries();
  engine_of(backend, {.bias = true, .activation = Activation::tanh}, Dtype::f16);
  const std::size_t one = cuda_on_cpu::engine_queries() - before;
  EXPECT_GT(one, 0U);
  engine_of(backend, {.bias = true, .activation = Activation::tanh}, Dtype::f16);
  engine_of(backend, {.bias = true}, Dtype::f16);  // the same for cuDNN
  EXPECT_EQ(cuda_on_cpu::engine_queries() - before, one);
  engine_of(backend, {.bias = true, .activation = Activation::relu}, Dtype::f16);
  EXPECT_GT(cuda_on_cpu::engine_queries() - before, one);
}

TEST(CudaConvTest, TheLibrarySaysHowFloat32IsMultiplied) {
  EXPECT_THAT(backend_with(false).library(), testing::HasSubstr("cuDNN 9."));
  EXPECT_THAT(backend_with(false).library(), testing::HasSubstr(", float32 strict"));
  EXPECT_THAT(backend_with(true).library(), testing::HasSubstr(", float32 as TF32"));
}

/// conv2d of ones with a bias of 0.5 and relu: 9.5 everywhere.
std::vector<float> run(const CudaBackend& backend, bool recorded, int times) {
  const Conv2D op({.bias = true, .activation = Activation::relu});
  const std::vector<TensorType> inputs = {{{1, 4, 4, 1}, Dtype::f32}, {{3, 3, 1, 8}, Dtype::f32}, {{8}, Dtype::f32}};
  const std::vector<TensorType> outputs = op.infer(inputs);
  Device& device = *backend.devices()[0];
  device.bind_to_thread();
  const auto kernel = backend.plan(op, {inputs, outputs}, device);
  std::vector<Buffer> buffers;
  std::vector<TensorView> views;
  const std::array<float, 3> values{1, 1, 0.5F};
  std::vector<std::vector<float>> host;
  for (std::size_t i = 0; i < 3; ++i) {
    host.emplace_back(static_cast<std::size_t>(inputs[i].elements()), values[i]);
    buffers.push_back(device.memory().allocate(inputs[i].bytes(), "input"));
    device.stream().copy(buffers.back().data(), host.back().data(), inputs[i].bytes());
    views.push_back({&inputs[i], buffers.back().data()});
  }
  const Buffer result = device.memory().allocate(outputs[0].bytes(), "result");
  const Buffer workspace = device.memory().allocate(kernel->workspace_bytes(), "workspace");
  const std::array out{TensorView{&outputs[0], result.data()}};
  const auto queue = [&](Stream& stream) {
    kernel->run(stream, views, out, {workspace.data(), kernel->workspace_bytes()});
  };
  const std::unique_ptr<Recording> recording = recorded ? device.record(std::array{RecordedWork{{}, queue}}) : nullptr;
  for (int i = 0; i < times; ++i) {
    if (recorded) {
      recording->launch(device.stream());
    } else {
      queue(device.stream());
    }
  }
  std::vector<float> got(static_cast<std::size_t>(outputs[0].elements()));
  device.stream().copy(got.data(), result.data(), outputs[0].bytes());
  device.stream().synchronize();
  return got;
}

TEST(CudaConvTest, RunsAgainAndFromARecording) {
  const CudaBackend backend = backend_with(false);
  EXPECT_THAT(run(backend, false, 2), testing::Each(9.5F));
  EXPECT_THAT(run(backend, true, 2), testing::Each(9.5F));
}

std::string planned(const CudaBackend& backend, const Op& op, const std::vector<TensorType>& inputs) {
  const std::vector<TensorType> outputs = op.infer(inputs);
  return std::string(backend.plan(op, {inputs, outputs}, *backend.devices()[0])->implementation());
}

TEST(CudaConvTest, ImagesWithFewChannelsHaveKernelsOfOurOwn) {
  const CudaBackend strict = backend_with(false), tf32 = backend_with(true);
  const auto pooled = [&](std::int64_t channels, const Pool2DAttributes& pool) {
    const Conv2DMaxPool op({.bias = true, .activation = Activation::relu}, pool);
    return planned(tf32, op,
                   {{{2, 8, 8, channels}, Dtype::bf16}, {{3, 3, channels, 8}, Dtype::bf16}, {{8}, Dtype::bf16}});
  };
  EXPECT_EQ(pooled(1, {}), "kernel");
  EXPECT_EQ(pooled(4, {}), "kernel");
  EXPECT_THAT(pooled(5, {}), testing::StartsWith("cudnn:")) << "tensor cores have work";
  EXPECT_THAT(pooled(1, {.size = {3, 3}}), testing::StartsWith("cudnn:")) << "more elements than a thread compares";
  const auto reads_turned = [&](std::int64_t channels) {
    const Conv2DMaxPool op({.turned = true}, {});
    const std::vector<TensorType> inputs{{{2, 8, 8, channels}, Dtype::bf16}, {{8, 3, 3, channels}, Dtype::bf16}};
    const std::vector<TensorType> outputs = op.infer(inputs);
    return tf32.fuses(op, {inputs, outputs}, *tf32.devices()[0]);
  };
  EXPECT_FALSE(reads_turned(4)) << "our kernel reads filters as they are";
  EXPECT_TRUE(reads_turned(5));
  const auto gradient = [](const CudaBackend& backend, std::int64_t channels, Dtype dtype) {
    const Conv2DFilterGradient op({}, {3, 3, channels, 8});
    return planned(backend, op, {{{2, 8, 8, channels}, dtype}, {{2, 6, 6, 8}, dtype}});
  };
  EXPECT_EQ(gradient(strict, 1, Dtype::f32), "kernel");
  EXPECT_THAT(gradient(strict, 8, Dtype::f32), testing::StartsWith("cudnn:"));
  EXPECT_THAT(gradient(tf32, 1, Dtype::f32), testing::StartsWith("cudnn:")) << "it has engines on tensor cores";
  EXPECT_THAT(gradient(strict, 1, Dtype::bf16), testing::StartsWith("cudnn:"));
}

TEST(CudaConvTest, ComputesTheSameWhereNothingIsFused) {
  cuda_on_cpu::machine().cudnn_fuses = false;
  EXPECT_THAT(run(backend_with(false), false, 1), testing::Each(9.5F));
  cuda_on_cpu::machine().cudnn_fuses = true;
}

/// The gradients of two convolutions by their filters on gpu:0, and how many kernels that took.
std::pair<std::vector<float>, std::size_t> filter_gradients(const Devices& devices, PassOptions passes) {
  Runtime runtime(devices);
  Graph graph;
  graph.set_device({DeviceId::Kind::gpu, 0, {}});
  std::vector<HostTensor> values;
  const auto input = [&](Shape shape) {
    HostTensor& value = values.emplace_back(TensorType{shape, Dtype::f32});
    float next = 0.3F * static_cast<float>(values.size());
    for (float& element : value.values<float>()) element = std::sin(next += 1.7F);
    return graph.input({std::move(shape), Dtype::f32}, "input");
  };
  const Value x = input({2, 8, 8, 5}), f = input({3, 3, 5, 9}), g = input({3, 2, 9, 4});
  const Value y = ops::conv2d(graph, ops::sigmoid(graph, ops::conv2d(graph, x, f)), g, {.strides = {2, 1}});
  const std::array wanted{f, g};
  const std::vector<Value> outputs = gradients(graph, ops::reduce_mean(graph, ops::square(graph, y)), wanted);
  const auto executor = make_executor(runtime, std::move(graph), outputs, {.passes = std::move(passes)});
  std::vector<TensorView> views;
  for (const HostTensor& value : values) views.push_back(value.view());
  executor->run(views);
  static_cast<void>(executor->read(0));  // waits
  const std::size_t before = cuda_on_cpu::kernels_run();
  executor->run(views);
  std::vector<float> result;
  for (int i = 0; i < 2; ++i) {
    const HostTensor output = executor->read(i);
    result.insert(result.end(), output.values<float>().begin(), output.values<float>().end());
  }
  return {result, cuda_on_cpu::kernels_run() - before};
}

TEST(CudaConvTest, AFilterIsTurnedOnceForBothDirections) {
  const Devices devices{DeviceConfig{}};
  const auto [turned, few] = filter_gradients(devices, {});
  const auto [plain, more] = filter_gradients(devices, {{"turn_filters"}});
  EXPECT_EQ(turned, plain) << "the same engines read the same numbers";
  EXPECT_EQ(few + 1, more) << "the second filter, forward and in the gradient of its image";
}

TEST(CudnnPlanTest, EnginesThatRoundOrVaryBreakTheRules) {
  const EngineRules strict{.dtype = Dtype::f32}, tf32{.dtype = Dtype::f32, .tf32 = true}, half{.dtype = Dtype::f16};
  const auto keeps = [](const EngineRules& rules, std::vector<cudnnBackendNumericalNote_t> notes) {
    return keeps_rules(rules, notes);
  };
  for (const EngineRules& rules : {strict, tf32, half}) {
    EXPECT_TRUE(keeps(rules, {}));
    EXPECT_TRUE(keeps(rules, {CUDNN_NUMERICAL_NOTE_STRICT_NAN_PROP}));
    EXPECT_FALSE(keeps(rules, {CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC}));
    EXPECT_FALSE(keeps(rules, {CUDNN_NUMERICAL_NOTE_TENSOR_CORE, CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION}));
  }
  EXPECT_FALSE(keeps(strict, {CUDNN_NUMERICAL_NOTE_TENSOR_CORE}));
  EXPECT_TRUE(keeps(tf32, {CUDNN_NUMERICAL_NOTE_TENSOR_CORE}));
  EXPECT_TRUE(keeps(half, {CUDNN_NUMERICAL_NOTE_TENSOR_CORE}));
  EXPECT_FALSE(keeps(tf32, {CUDNN_NUMERICAL_NOTE_TENSOR_CORE, CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS}));
}

TEST(CudnnPlanTest, OneKernelLeavesMostOfTheMemory) {
  EXPECT_EQ(workspace_limit(std::size_t{8} << 30), std::size_t{1} << 30);
  EXPECT_EQ(workspace_limit(std::size_t{80} << 30), std::size_t{4} << 30);
}

}  // namespace
}  // namespace gpubench::cuda
