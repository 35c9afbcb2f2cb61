#include <array>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/graph/gradients.h"
#include "core/graph/leaf_ops.h"
#include "core/ops/bias.h"
#include "core/ops/conv.h"
#include "core/ops/elementwise.h"
#include "core/ops/pool.h"
#include "core/ops/reduce.h"
#include "core/passes/pass.h"
#include "core/passes/rewriter.h"
#include "tests/core/passes/equal_results.h"

namespace gpubench {
namespace {

/// Loss of relu(conv(x, f) + b) after max pooling, and its gradients by x, f and b. With `skip`, the activation is read
/// by something else too.
Program pooled_layer(bool relu, bool skip = false) {
  Program program;
  Graph& graph = program.graph;
  const Value x = graph.input({{2, 7, 8, 1}, Dtype::f32}, "x"), filter = graph.input({{3, 3, 1, 16}, Dtype::f32}, "f");
  const Value bias = graph.input({{16}, Dtype::f32}, "b");
  Value y = ops::bias_add(graph, ops::conv2d(graph, x, filter), bias);
  if (relu) y = ops::relu(graph, y);
  Value loss = ops::reduce_mean(graph, ops::square(graph, ops::max_pool2d(graph, y)));
  if (skip) loss = graph.apply(std::make_shared<const AddN>(), {loss, ops::reduce_mean(graph, y)});
  program.outputs = gradients(graph, loss, std::array{x, filter, bias});
  program.outputs.push_back(loss);
  return program;
}

/// The type of the first input of the first node of that op.
TensorType input_of(const Graph& graph, std::string_view op) {
  for (const Node& node : graph.nodes()) {
    if (node.op->name() == op) return graph.type(node.inputs[0]);
  }
  return {};
}

TEST(ShrinkPoolGradient, MovesWhatFollowsToTheSmallSide) {
  const Program moved = remove_dead_code(shrink_pool_gradient(pooled_layer(true)));
  const TensorType small{{2, 2, 3, 16}, Dtype::f32};
  EXPECT_EQ(input_of(moved.graph, "relu_gradient"), small);
  EXPECT_EQ(input_of(moved.graph, "bias_gradient"), small);
  const Program without_relu = remove_dead_code(shrink_pool_gradient(pooled_layer(false)));
  EXPECT_EQ(input_of(without_relu.graph, "bias_gradient"), small);
}

TEST(ShrinkPoolGradient, LeavesGradientsThatArriveOverTwoPaths) {
  const Program kept = remove_dead_code(shrink_pool_gradient(pooled_layer(true, true)));
  EXPECT_EQ(input_of(kept.graph, "relu_gradient"), (TensorType{{2, 5, 6, 16}, Dtype::f32}));
}

TEST(ShrinkPoolGradient, GivesTheSameResults) {
  expect_equal_results("shrink_pool_gradient", [] { return pooled_layer(true); });
  expect_equal_results("shrink_pool_gradient", [] { return pooled_layer(false); });
  expect_equal_results("shrink_pool_gradient", [] { return pooled_layer(true, true); });
}

}  // namespace
}  // namespace gpubench
