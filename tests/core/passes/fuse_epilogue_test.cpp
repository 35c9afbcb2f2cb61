#include <array>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/graph/gradients.h"
#include "core/ops/bias.h"
#include "core/ops/conv.h"
#include "core/ops/elementwise.h"
#include "core/ops/matmul.h"
#include "core/ops/reduce.h"
#include "core/ops/state.h"
#include "core/passes/pass.h"
#include "tests/core/passes/equal_results.h"

namespace gpubench {
namespace {

using testing::ElementsAre;

Program dense(Value (*activation)(Graph&, Value)) {
  Program program;
  Graph& graph = program.graph;
  const Value x = graph.input({{4, 6}, Dtype::f32}, "x"), w = graph.input({{6, 5}, Dtype::f32}, "w");
  const Value b = graph.input({{5}, Dtype::f32}, "b");
  Value y = ops::bias_add(graph, ops::matmul(graph, x, w), b);
  if (activation != nullptr) y = activation(graph, y);
  program.outputs = {y};
  return program;
}

TEST(FuseEpilogue, DenseBecomesOneOp) {
  const Program fused = fuse_epilogue(dense(&ops::relu));
  EXPECT_THAT(op_names(fused.graph), ElementsAre("input", "input", "input", "matmul"));
  const auto& matmul = dynamic_cast<const Matmul&>(*fused.graph.nodes().back().op);
  EXPECT_TRUE(matmul.options.bias);
  EXPECT_EQ(matmul.options.activation, Activation::relu);
}

TEST(FuseEpilogue, EveryActivationGivesTheSameResult) {
  for (const auto activation : {static_cast<Value (*)(Graph&, Value)>(nullptr), &ops::relu, &ops::sigmoid, &ops::tanh,
                                &ops::gelu, &ops::gelu_tanh}) {
    expect_equal_results("fuse_epilogue", [activation] { return dense(activation); });
  }
}

TEST(FuseEpilogue, TrainingAConvolutionGivesTheSameGradients) {
  expect_equal_results(
      "fuse_epilogue",
      [] {
        Program program;
        Graph& graph = program.graph;
        const Value x = graph.input({{2, 6, 6, 3}, Dtype::f32}, "x"), f = graph.input({{3, 3, 3, 8}, Dtype::f32}, "f");
        const Value b = graph.input({{8}, Dtype::f32}, "b");
        const Value y = ops::relu(graph, ops::bias_add(graph, ops::conv2d(graph, x, f), b));
        const Value loss = ops::reduce_sum(graph, ops::square(graph, y));
        const std::array wanted{f, b};
        program.outputs = gradients(graph, loss, wanted);
        program.outputs.push_back(loss);
        return program;
      },
      1e-4F);
}

TEST(FuseEpilogue, AResultThatOthersReadStays) {
  Program program = dense(nullptr);
  Graph& graph = program.graph;
  const Value bias_add = program.outputs[0];
  program.outputs = {ops::gelu(graph, bias_add), bias_add};
  const Program fused = fuse_epilogue(std::move(program));
  EXPECT_THAT(op_names(fused.graph), ElementsAre("input", "input", "input", "matmul", "gelu"));
}

TEST(FuseEpilogue, DoesNotMoveAReadPastAnUpdate) {
  const Devices devices{DeviceConfig{}};
  Runtime runtime(devices);
  const VariablePtr w = runtime.variables().create("w", random_values({{6, 5}, Dtype::f32}, 1), {});
  Program program;
  Graph& graph = program.graph;
  const Value x = graph.input({{4, 6}, Dtype::f32}, "x"), b = graph.input({{5}, Dtype::f32}, "b");
  const Value product = ops::matmul(graph, x, graph.variable(w));
  ops::assign_add(graph, graph.variable(w), graph.variable(w));
  program.outputs = {ops::bias_add(graph, product, b)};
  const Program fused = fuse_epilogue(std::move(program));
  EXPECT_THAT(op_names(fused.graph), ElementsAre("input", "input", "variable", "matmul", "assign_add", "bias_add"));
}

}  // namespace
}  // namespace gpubench
