// Which algorithm a product gets, how often cuBLASLt is asked for it, and what training fuses on a GPU. The cuBLASLt
// that runs on the CPU numbers its algorithms in the order in which it proposes them.
#include "core/ops/matmul.h"

#include <algorithm>
#include <array>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/backend/cuda/cublaslt.h"
#include "core/backend/cuda/cuda_backend.h"
#include "core/device/device.h"
#include "core/exec/executor.h"
#include "core/graph/gradients.h"
#include "core/ops/bias.h"
#include "core/ops/cast.h"
#include "core/ops/elementwise.h"
#include "core/ops/fused_matmul.h"
#include "core/ops/reduce.h"
#include "tests/support/cuda_on_cpu/gpu.h"
#include "tests/support/expect_error.h"

namespace gpubench::cuda {
namespace {

/// Restores the machine that a test changes.
class CudaMatmulTest : public testing::Test {
 protected:
  ~CudaMatmulTest() override { cuda_on_cpu::machine() = before_; }

 private:
  cuda_on_cpu::Machine before_ = cuda_on_cpu::machine();
};

CudaBackend backend_that_searches(int candidates) {
  return CudaBackend(BackendConfig{.options = CudaOptions{.matmul_search = candidates}});
}

std::string planned(const CudaBackend& backend, const Matmul& op, std::vector<TensorType> inputs) {
  const std::vector<TensorType> outputs = op.infer(inputs);
  Device& device = *backend.devices()[0];
  device.bind_to_thread();
  return std::string(backend.plan(op, {inputs, outputs}, device)->implementation());
}

const std::vector<TensorType> matrices{{{16, 12}, Dtype::f32}, {{12, 8}, Dtype::f32}};

TEST_F(CudaMatmulTest, AsksOnceForEachProblem) {
  const CudaBackend backend = backend_that_searches(0);
  const std::size_t before = cuda_on_cpu::heuristic_calls();
  for (int i = 0; i < 3; ++i) EXPECT_EQ(planned(backend, Matmul(), matrices), "cublaslt:1");
  EXPECT_EQ(cuda_on_cpu::heuristic_calls() - before, 1U);
  planned(backend, Matmul({.activation = Activation::relu}), matrices);
  planned(backend, Matmul(), {{{16, 12}, Dtype::f16}, {{12, 8}, Dtype::f16}});
  planned(backend, Matmul({.activation = Activation::tanh}), matrices);  // the same product, and a kernel behind it
  EXPECT_EQ(cuda_on_cpu::heuristic_calls() - before, 3U);
}

TEST_F(CudaMatmulTest, WithoutASearchTheFirstProposalIsTaken) {
  cuda_on_cpu::machine().matmul_milliseconds = {0.3, 0.1, 0.2};
  const std::size_t kernels = cuda_on_cpu::kernels_run();
  EXPECT_EQ(planned(backend_that_searches(0), Matmul(), matrices), "cublaslt:1");
  EXPECT_EQ(planned(backend_that_searches(1), Matmul(), matrices), "cublaslt:1");
  EXPECT_EQ(cuda_on_cpu::kernels_run(), kernels);
}

TEST_F(CudaMatmulTest, ASearchKeepsTheFastestOfSoMany) {
  cuda_on_cpu::machine().matmul_milliseconds = {0.3, 0.2, 0.1};
  EXPECT_EQ(planned(backend_that_searches(2), Matmul(), matrices), "cublaslt:2 searched");
  const CudaBackend backend = backend_that_searches(8);
  EXPECT_EQ(planned(backend, Matmul(), matrices), "cublaslt:3 searched");
  const std::size_t kernels = cuda_on_cpu::kernels_run();
  EXPECT_EQ(planned(backend, Matmul(), matrices), "cublaslt:3 searched");
  EXPECT_EQ(cuda_on_cpu::kernels_run(), kernels) << "measured again";
  EXPECT_EQ(backend.devices()[0]->memory().use().in_use, 0U);
}

TEST_F(CudaMatmulTest, ByDefaultSmallProductsAreSearched) {
  cuda_on_cpu::machine().matmul_milliseconds = {0.3, 0.2, 0.1};
  const CudaBackend backend{BackendConfig{}};
  EXPECT_EQ(planned(backend, Matmul(), matrices), "cublaslt:3 searched");
  const std::size_t kernels = cuda_on_cpu::kernels_run();
  EXPECT_EQ(planned(backend, Matmul(), {{{1024, 512}, Dtype::f32}, {{512, 1024}, Dtype::f32}}), "cublaslt:1");
  EXPECT_EQ(cuda_on_cpu::kernels_run(), kernels) << "a product of 1.07 GFLOP was timed";
}

TEST_F(CudaMatmulTest, ASearchMeasuresEveryEpilogueTypeAndBatch) {
  cuda_on_cpu::machine().matmul_milliseconds = {0.2, 0.1};
  const CudaBackend backend = backend_that_searches(2);
  for (const Dtype dtype : {Dtype::f32, Dtype::f16, Dtype::bf16}) {
    EXPECT_EQ(planned(backend, Matmul({.bias = true, .activation = Activation::relu}),
                      {{{16, 12}, dtype}, {{12, 8}, dtype}, {{8}, dtype}}),
              "cublaslt:2 searched");
    EXPECT_EQ(planned(backend, Matmul(), {{{5, 16, 12}, dtype}, {{5, 12, 8}, dtype}}), "cublaslt:2 searched");
    EXPECT_EQ(planned(backend, Matmul(), {{{16, 12}, dtype}, {{5, 12, 8}, dtype}}), "cublaslt:2 searched");
  }
}

const std::vector<std::uint32_t> all_reductions{CUBLASLT_REDUCTION_SCHEME_INPLACE,
                                                CUBLASLT_REDUCTION_SCHEME_OUTPUT_TYPE,
                                                CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE, CUBLASLT_REDUCTION_SCHEME_NONE};

TEST_F(CudaMatmulTest, PartsOfSumsAreAddedInFloat32) {
  cuda_on_cpu::machine().matmul_milliseconds = {0.1, 0.2, 0.4, 0.3};  // the fastest add in the type of results
  cuda_on_cpu::machine().matmul_reductions = all_reductions;
  for (const Dtype dtype : {Dtype::f16, Dtype::bf16}) {
    for (const bool bias : {false, true}) {
      std::vector<TensorType> inputs{{{16, 12}, dtype}, {{12, 8}, dtype}};
      if (bias) inputs.push_back({{8}, dtype});
      const Matmul op({.bias = bias, .activation = bias ? Activation::relu : Activation::none});
      EXPECT_EQ(planned(backend_that_searches(0), op, inputs), "cublaslt:3 split, added in the type of sums");
      EXPECT_EQ(planned(backend_that_searches(8), op, inputs), "cublaslt:4 searched");
    }
    EXPECT_EQ(planned(backend_that_searches(0), Matmul(), {{{5, 16, 12}, dtype}, {{5, 12, 8}, dtype}}),
              "cublaslt:3 split, added in the type of sums");
  }
  // A float32 result is as precise as its sums.
  EXPECT_EQ(planned(backend_that_searches(0), Matmul(), matrices), "cublaslt:1 split, added in place");
  cuda_on_cpu::machine().matmul_milliseconds = {0.2, 0.1, 0.4, 0.3};
  EXPECT_EQ(planned(backend_that_searches(8), Matmul(), matrices),
            "cublaslt:2 split, added in the type of results searched");
}

TEST_F(CudaMatmulTest, WithoutASchemeThatIsAllowedThereIsNoAlgorithm) {
  cuda_on_cpu::machine().matmul_reductions = {CUBLASLT_REDUCTION_SCHEME_INPLACE};
  EXPECT_ERROR(testing::HasSubstr("cuBLASLt has no algorithm for "),
               planned(backend_that_searches(0), Matmul(), {{{16, 12}, Dtype::f16}, {{12, 8}, Dtype::f16}}));
}

TEST_F(CudaMatmulTest, FactorsAndSumsKeepTheirPrecision) {
  constexpr std::uint64_t sums_32 = CUBLASLT_NUMERICAL_IMPL_FLAGS_ACCUMULATOR_32F;
  constexpr std::uint64_t matrix_units = CUBLASLT_NUMERICAL_IMPL_FLAGS_HMMA | sums_32;
  cuda_on_cpu::machine().matmul_milliseconds = {0.1, 0.1, 0.1, 0.1, 0.1};
  cuda_on_cpu::machine().matmul_implementations = {
      CUBLASLT_NUMERICAL_IMPL_FLAGS_HMMA | CUBLASLT_NUMERICAL_IMPL_FLAGS_ACCUMULATOR_16F,
      matrix_units | CUBLASLT_NUMERICAL_IMPL_FLAGS_INPUT_16BF,
      matrix_units | CUBLASLT_NUMERICAL_IMPL_FLAGS_INPUT_16F,
      matrix_units | CUBLASLT_NUMERICAL_IMPL_FLAGS_INPUT_TF32,
      CUBLASLT_NUMERICAL_IMPL_FLAGS_FMA | sums_32 | CUBLASLT_NUMERICAL_IMPL_FLAGS_INPUT_32F,
  };
  EXPECT_EQ(planned(backend_that_searches(0), Matmul(), matrices), "cublaslt:5");
  EXPECT_EQ(
      planned(CudaBackend(BackendConfig{.options = CudaOptions{.tf32 = true, .matmul_search = 0}}), Matmul(), matrices),
      "cublaslt:4");
  EXPECT_EQ(planned(backend_that_searches(0), Matmul(), {{{16, 12}, Dtype::bf16}, {{12, 8}, Dtype::bf16}}),
            "cublaslt:2");
}

/// 256 + 1 - 256 by a product with ones in bfloat16, which has no 257.
float sum_on_gpu() {
  const Devices devices{DeviceConfig{}};
  Runtime runtime(devices);
  Graph graph;
  graph.set_device({DeviceId::Kind::gpu, 0, {}});
  HostTensor terms(TensorType{{1, 4}, Dtype::f32}), ones(TensorType{{4, 1}, Dtype::f32});
  std::ranges::copy(std::array{256.0F, 1.0F, -256.0F, 0.0F}, terms.values<float>().begin());
  std::ranges::fill(ones.values<float>(), 1.0F);
  const auto narrow = [&](const HostTensor& tensor) {
    return ops::cast(graph, graph.input(tensor.type(), "input"), Dtype::bf16);
  };
  const Value left = narrow(terms), right = narrow(ones);
  const std::vector<Value> outputs{ops::cast(graph, ops::matmul(graph, left, right), Dtype::f32)};
  const auto executor = make_executor(runtime, std::move(graph), outputs, {});
  executor->run(std::vector<TensorView>{terms.view(), ones.view()});
  return executor->read(0).values<float>()[0];
}

TEST_F(CudaMatmulTest, ASplitSumKeepsWhatItsResultCannotHold) {
  cuda_on_cpu::machine().matmul_milliseconds = {0.1, 0.1, 0.1, 0.1};
  cuda_on_cpu::machine().matmul_reductions = all_reductions;
  EXPECT_EQ(sum_on_gpu(), 1);
}

TEST_F(CudaMatmulTest, TheLibrarySaysWhatIsSearched) {
  EXPECT_THAT(backend_that_searches(0).library(), testing::EndsWith("float32 strict"));
  EXPECT_THAT(backend_that_searches(4).library(), testing::EndsWith("float32 strict, products searched among 4"));
  EXPECT_THAT(CudaBackend(BackendConfig{}).library(),
              testing::EndsWith("float32 strict, products below 1 GFLOP searched among 8"));
}

/// The gradients of two dense layers by all weights, on gpu:0.
std::vector<float> gradients_on_gpu(const Devices& devices, Value (*activation)(Graph&, Value), PassOptions passes) {
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
  const Value x = input({6, 12}), w1 = input({12, 24}), b1 = input({24}), w2 = input({24, 5}), b2 = input({5});
  const Value hidden = activation(graph, ops::bias_add(graph, ops::matmul(graph, x, w1), b1));
  const Value y = ops::bias_add(graph, ops::matmul(graph, hidden, w2), b2);
  const std::array wanted{w1, b1, w2, b2};
  const std::vector<Value> outputs = gradients(graph, ops::reduce_mean(graph, ops::square(graph, y)), wanted);
  const auto executor = make_executor(runtime, std::move(graph), outputs, {.passes = std::move(passes)});
  std::vector<TensorView> views;
  for (const HostTensor& value : values) views.push_back(value.view());
  executor->run(views);
  std::vector<float> result;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const HostTensor output = executor->read(static_cast<int>(i));
    result.insert(result.end(), output.values<float>().begin(), output.values<float>().end());
  }
  return result;
}

TEST_F(CudaMatmulTest, TrainingGivesTheSameGradientsFusedAndNot) {
  const Devices devices{DeviceConfig{}};
  for (const auto activation : {&ops::relu, &ops::gelu_tanh}) {
    const std::vector<float> plain =
        gradients_on_gpu(devices, activation, {{"fuse_activation_gradient", "fuse_bias_gradient"}});
    for (const PassOptions& passes :
         {PassOptions{}, PassOptions{{"fuse_activation_gradient"}}, PassOptions{{"fuse_bias_gradient"}}}) {
      EXPECT_THAT(gradients_on_gpu(devices, activation, passes), testing::Pointwise(testing::FloatNear(1e-5F), plain));
    }
  }
}

TEST_F(CudaMatmulTest, TrainingFusesOnlyWhatTheLibraryHas) {
  const Devices devices{DeviceConfig{}};
  const std::size_t before = cuda_on_cpu::kernels_run();
  const std::vector<float> fused = gradients_on_gpu(devices, &ops::relu, {});
  const std::size_t few = cuda_on_cpu::kernels_run() - before;
  cuda_on_cpu::machine().blaslt_fuses_training = false;
  const Devices others{DeviceConfig{}};
  const std::size_t between = cuda_on_cpu::kernels_run();
  EXPECT_THAT(gradients_on_gpu(others, &ops::relu, {}), testing::Pointwise(testing::FloatNear(1e-5F), fused));
  EXPECT_EQ(cuda_on_cpu::kernels_run() - between, few + 3);  // two sums and the derivative of relu
}

/// 1.07 GFLOP; the factor that is summed is small.
bool fuses_large_sum(const CudaBackend& backend, Factor summed, std::int64_t rows = 1024) {
  const MatmulBiasGradient op({.transpose_a = true}, summed);
  const TensorType small{{rows, 32}, Dtype::bf16}, large{{rows, 16384}, Dtype::bf16};
  const std::vector<TensorType> inputs =
      summed == Factor::first ? std::vector{small, large} : std::vector{large, small};
  const std::vector<TensorType> outputs = op.infer(inputs);
  Device& device = *backend.devices()[0];
  device.bind_to_thread();
  return backend.fuses(op, {inputs, outputs}, device);
}

TEST_F(CudaMatmulTest, LargeProductsSumAFactorOnlyWhereThatIsFaster) {
  cuda_on_cpu::machine().multiplies = false;
  cuda_on_cpu::machine().matmul_milliseconds = {1};
  for (const Factor summed : {Factor::first, Factor::second}) {
    // Only the libraries' kernels take time here, so what the sum's own kernel would take is taken from the fused one.
    cuda_on_cpu::machine().matmul_sum_milliseconds = -0.04;
    EXPECT_TRUE(fuses_large_sum(backend_that_searches(0), summed));
    cuda_on_cpu::machine().matmul_sum_milliseconds = -0.01;
    EXPECT_FALSE(fuses_large_sum(backend_that_searches(0), summed)) << "two timings differ by as much";
    cuda_on_cpu::machine().matmul_sum_milliseconds = 0.1;
    const CudaBackend backend = backend_that_searches(0);
    EXPECT_FALSE(fuses_large_sum(backend, summed));
    const std::size_t kernels = cuda_on_cpu::kernels_run();
    EXPECT_FALSE(fuses_large_sum(backend, summed));
    EXPECT_EQ(cuda_on_cpu::kernels_run(), kernels) << "measured again";
    EXPECT_TRUE(fuses_large_sum(backend, summed, 900)) << "less than a GFLOP saves a launch";
    EXPECT_EQ(cuda_on_cpu::kernels_run(), kernels) << "measured what is small";
    EXPECT_EQ(backend.devices()[0]->memory().use().in_use, 0U);
  }
}

TEST_F(CudaMatmulTest, AGpuThatIsLostIsSaidToBe) {
  const CudaBackend backend = backend_that_searches(0);
  Device& device = *backend.devices()[0];
  device.bind_to_thread();
  const Matmul op;
  const std::vector<TensorType> inputs = {{{4, 8}, Dtype::f32}, {{8, 16}, Dtype::f32}}, outputs = op.infer(inputs);
  const auto kernel = backend.plan(op, {inputs, outputs}, device);
  ASSERT_THAT(kernel->implementation(), testing::StartsWith("cublaslt:"));
  const Buffer memory = device.memory().allocate(4096, "matrices");
  const std::size_t bytes = kernel->workspace_bytes();
  const Buffer workspace = device.memory().allocate(std::max<std::size_t>(bytes, 1), "workspace");
  const std::array in{TensorView{&inputs[0], memory.data()}, TensorView{&inputs[1], memory.data()}};
  const std::array out{TensorView{&outputs[0], memory.data()}};
  cuda_on_cpu::fail_after(0, cudaErrorIllegalAddress);
  EXPECT_ERROR_OF(DeviceLost, testing::HasSubstr("an illegal memory access was encountered"),
                  kernel->run(device.stream(), in, out, {workspace.data(), bytes}));
  cuda_on_cpu::mend();
}

TEST_F(CudaMatmulTest, WithoutMemoryToTimeThemLargeProductsAreNotFused) {
  cuda_on_cpu::machine().multiplies = false;
  const LogicalDevice small{.memory = {.limit = std::size_t{20} << 20}};
  const CudaBackend backend(BackendConfig{.devices = std::vector{small}});
  EXPECT_FALSE(fuses_large_sum(backend, Factor::second));
  EXPECT_EQ(backend.devices()[0]->memory().use().in_use, 0U);
}

}  // namespace
}  // namespace gpubench::cuda
