#include <array>
#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/ops/batch_norm.h"
#include "core/ops/bias.h"
#include "core/ops/cast.h"
#include "core/ops/conv.h"
#include "core/ops/elementwise.h"
#include "core/ops/matmul.h"
#include "core/ops/state.h"
#include "core/passes/pass.h"
#include "tests/core/passes/equal_results.h"

namespace gpubench {
namespace {

using testing::Contains;
using testing::Not;

class FoldBatchNorm : public ::testing::Test {
 protected:
  static constexpr std::int64_t channels = 5;

  Value variable(Graph& graph, Shape shape, float least = -1) {
    HostTensor values = random_values({std::move(shape), Dtype::f32}, ++seed);
    for (float& value : values.values<float>()) value = std::max(value, least);
    return graph.variable(runtime.variables().create("v", values, {}));
  }

  /// Mean and variance are far from 0 and 1, as after a training.
  Value normalized(Graph& graph, Value x) {
    return ops::batch_norm_inference(graph, x, variable(graph, {channels}), variable(graph, {channels}),
                                     variable(graph, {channels}), variable(graph, {channels}, 0.2F), 1e-3F);
  }

  /// The product is computed in `dtype`, from a float32 input and to a float32 output.
  Program convolution(bool bias, Dtype dtype = Dtype::f32) {
    Program program;
    Graph& graph = program.graph;
    const auto narrowed = [&](Value value) { return ops::cast(graph, value, dtype); };
    const Value x = graph.input({{2, 6, 6, 3}, Dtype::f32}, "x");
    Value y = ops::conv2d(graph, narrowed(x), narrowed(variable(graph, {3, 3, 3, channels})));
    if (bias) y = ops::bias_add(graph, y, narrowed(variable(graph, {channels})));
    program.outputs = {ops::cast(graph, ops::relu(graph, normalized(graph, y)), Dtype::f32)};
    return program;
  }

  Program dense(MatmulAttributes options = {}) {
    Program program;
    Graph& graph = program.graph;
    const Value x = graph.input({{4, 6}, Dtype::f32}, "x");
    const Shape kernel = options.transpose_b ? Shape{channels, 6} : Shape{6, channels};
    program.outputs = {normalized(graph, ops::matmul(graph, x, variable(graph, kernel), options))};
    return program;
  }

  std::vector<float> run(Program program, bool folded) {
    const HostTensor x = random_values(program.graph.type(program.graph.inputs()[0]), 99);
    ExecutorOptions options;
    if (!folded) options.passes.disabled.insert("fold_batch_norm");
    const auto executor = make_executor(runtime, std::move(program.graph), program.outputs, options);
    executor->run(std::array{x.view()});
    const HostTensor y = executor->read(0);
    return {y.values<float>().begin(), y.values<float>().end()};
  }

  void expect_folds_to_the_same(const Program& program) {
    EXPECT_THAT(op_names(fold_batch_norm(program).graph), Not(Contains("batch_norm_inference")));
    const std::vector<float> folded = run(program, true), plain = run(program, false);
    ASSERT_EQ(folded.size(), plain.size());
    for (std::size_t i = 0; i < plain.size(); ++i) EXPECT_NEAR(folded[i], plain[i], 2e-5F);
  }
  void expect_left_alone(const Program& program) {
    EXPECT_EQ(op_names(fold_batch_norm(program).graph), op_names(program.graph));
  }

  unsigned seed = 0;
  Devices devices{DeviceConfig{}};
  Runtime runtime{devices};
};

TEST_F(FoldBatchNorm, IntoAConvolution) {
  expect_folds_to_the_same(convolution(false));
}

TEST_F(FoldBatchNorm, IntoAConvolutionAndItsBias) {
  expect_folds_to_the_same(convolution(true));
}

TEST_F(FoldBatchNorm, InBfloat16ItIsAsCloseToFloat32AsTheUnfoldedNet) {
  const auto distance = [&](Dtype dtype, bool folded) {
    seed = 0;
    const std::vector<float> exact = run(convolution(true), false);
    seed = 0;
    const std::vector<float> found = run(convolution(true, dtype), folded);
    double sum = 0;
    for (std::size_t i = 0; i < exact.size(); ++i) sum += std::abs(found[i] - exact[i]);
    return sum / static_cast<double>(exact.size());
  };
  const double plain = distance(Dtype::bf16, false), folded = distance(Dtype::bf16, true);
  EXPECT_GT(plain, 1e-4) << "bfloat16 rounds";
  EXPECT_LT(folded, plain);
  EXPECT_THAT(op_names(fold_batch_norm(convolution(true, Dtype::bf16)).graph), Not(Contains("batch_norm_inference")));
}

TEST_F(FoldBatchNorm, NotInFloat16WhoseRangeABiasMayLeave) {
  expect_left_alone(convolution(true, Dtype::f16));
}

TEST_F(FoldBatchNorm, IntoADenseLayer) {
  expect_folds_to_the_same(dense());
}

TEST_F(FoldBatchNorm, LeavesOneKernelPerLayer) {
  Program program = convolution(true);
  const auto executor = make_executor(runtime, std::move(program.graph), program.outputs);
  EXPECT_EQ(executor->facts().kernels, 1u);  // convolution, bias and activation
}

TEST_F(FoldBatchNorm, NotWhereTheOutputsAreRowsOfTheKernel) {
  expect_left_alone(dense({.transpose_b = true}));
}

TEST_F(FoldBatchNorm, NotWhereTheKernelIsUpdated) {
  Program program = dense();
  Graph& graph = program.graph;
  const Value kernel = graph.variable(graph.variables()[0]);
  ops::assign_add(graph, kernel, kernel);
  expect_left_alone(program);
}

TEST_F(FoldBatchNorm, NotWhereOthersReadTheProduct) {
  Program program = dense();
  for (std::int32_t index = 0; const Node& node : program.graph.nodes()) {
    if (node.op->name() == "matmul") program.outputs.push_back({index, 0});
    ++index;
  }
  ASSERT_EQ(program.outputs.size(), 2u);
  expect_left_alone(program);
}

TEST_F(FoldBatchNorm, NotWhereTheKernelComesWithEveryRun) {
  Program program;
  Graph& graph = program.graph;
  const Value x = graph.input({{4, 6}, Dtype::f32}, "x"), w = graph.input({{6, channels}, Dtype::f32}, "w");
  program.outputs = {normalized(graph, ops::matmul(graph, x, w))};
  expect_left_alone(program);
}

}  // namespace
}  // namespace gpubench
