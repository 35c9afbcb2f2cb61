#include <array>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/graph/gradients.h"
#include "core/ops/bias.h"
#include "core/ops/elementwise.h"
#include "core/ops/fused_matmul.h"
#include "core/ops/reduce.h"
#include "core/passes/pass.h"
#include "tests/core/passes/equal_results.h"

namespace gpubench {
namespace {

using testing::Contains;
using testing::Not;

using Function = Value (*)(Graph&, Value);

/// Loss of two dense layers and its gradients by all weights.
Program two_layers(Function activation, std::int64_t units) {
  Program program;
  Graph& graph = program.graph;
  const Value x = graph.input({{4, 6}, Dtype::f32}, "x");
  const Value w1 = graph.input({{6, units}, Dtype::f32}, "w1"), b1 = graph.input({{units}, Dtype::f32}, "b1");
  const Value w2 = graph.input({{units, 5}, Dtype::f32}, "w2"), b2 = graph.input({{5}, Dtype::f32}, "b2");
  const Value hidden = activation(graph, ops::bias_add(graph, ops::matmul(graph, x, w1), b1));
  const Value y = ops::bias_add(graph, ops::matmul(graph, hidden, w2), b2);
  const Value loss = ops::reduce_mean(graph, ops::square(graph, y));
  const std::array wanted{w1, b1, w2, b2};
  program.outputs = gradients(graph, loss, wanted);
  program.outputs.push_back(loss);
  return program;
}

std::vector<std::string> names_after_passes(Program program, const Fuses& fuses = &fuses_all) {
  return op_names(apply_passes(std::move(program), {}, {.fuses = fuses}).graph);
}

TEST(FuseActivationGradient, ReluLeavesAMaskThatTheNextProductReads) {
  const auto names = names_after_passes(two_layers(&ops::relu, 20));
  EXPECT_THAT(names, Contains("matmul_aux"));
  EXPECT_THAT(names, Contains("matmul_activation_gradient"));
  EXPECT_THAT(names, Not(Contains("relu_gradient")));
  // Both biases are summed by the products of their weights.
  EXPECT_EQ(std::count(names.begin(), names.end(), "matmul_bias_gradient"), 2);
  EXPECT_THAT(names, Not(Contains("bias_gradient")));
}

TEST(FuseActivationGradient, GeluLeavesItsArgument) {
  const auto names = names_after_passes(two_layers(&ops::gelu_tanh, 24));
  EXPECT_THAT(names, Contains("matmul_aux"));
  EXPECT_THAT(names, Contains("matmul_activation_gradient"));
  EXPECT_THAT(names, Not(Contains("gelu_tanh")));
  EXPECT_THAT(names, Not(Contains("gelu_tanh_gradient")));
}

TEST(FuseActivationGradient, GivesTheSameResults) {
  for (const Function activation : {&ops::relu, &ops::gelu_tanh}) {
    for (const std::int64_t units : {20, 24, 160}) {
      expect_equal_results(
          "fuse_activation_gradient", [&] { return two_layers(activation, units); }, 1e-5F, &fuses_all);
    }
  }
}

TEST(FuseActivationGradient, LeavesOtherActivationsAndShapes) {
  for (const Function activation : {&ops::tanh, &ops::gelu}) {
    EXPECT_THAT(names_after_passes(two_layers(activation, 24)), Not(Contains("matmul_aux")));
  }
  EXPECT_THAT(names_after_passes(two_layers(&ops::gelu_tanh, 20)), Not(Contains("matmul_aux")));
}

TEST(FuseActivationGradient, NeedsADeviceThatHasBothProducts) {
  EXPECT_THAT(names_after_passes(two_layers(&ops::relu, 24), {}), Not(Contains("matmul_aux")));
  const auto only_forward = [](const DeviceId&, const Op& op, TensorTypes) {
    return dynamic_cast<const MatmulAux*>(&op) != nullptr;
  };
  EXPECT_THAT(names_after_passes(two_layers(&ops::relu, 24), only_forward), Not(Contains("matmul_aux")));
}

TEST(FuseActivationGradient, LeavesADerivativeWhoseInputOthersRead) {
  Program program;
  Graph& graph = program.graph;
  const Value x = graph.input({{4, 6}, Dtype::f32}, "x"), w = graph.input({{6, 8}, Dtype::f32}, "w");
  const Value y = ops::matmul(graph, x, w, {.activation = Activation::relu});
  const Value dy = ops::matmul(graph, x, w);
  program.outputs = {ops::relu_gradient(graph, dy, y), dy};
  EXPECT_THAT(op_names(fuse_activation_gradient(std::move(program), &fuses_all).graph), Contains("relu_gradient"));
}

}  // namespace
}  // namespace gpubench
