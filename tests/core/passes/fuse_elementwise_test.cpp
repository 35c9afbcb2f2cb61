#include <array>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/graph/gradients.h"
#include "core/ops/bias.h"
#include "core/ops/broadcast.h"
#include "core/ops/cast.h"
#include "core/ops/elementwise.h"
#include "core/ops/elementwise_chain.h"
#include "core/ops/reduce.h"
#include "core/ops/state.h"
#include "core/passes/pass.h"
#include "tests/core/passes/equal_results.h"

namespace gpubench {
namespace {

using testing::ElementsAre;

/// tanh(scale - x * y) + bias, over rows.
Program four_ops() {
  Program program;
  Graph& graph = program.graph;
  const Value x = graph.input({{40, 12}, Dtype::f32}, "x"), y = graph.input({{40, 1}, Dtype::f32}, "y");
  const Value scale = graph.input({{}, Dtype::f32}, "scale"), bias = graph.input({{12}, Dtype::f32}, "bias");
  const Value inner = ops::sub(graph, scale, ops::mul(graph, x, y));
  program.outputs = {ops::bias_add(graph, ops::tanh(graph, inner), bias)};
  return program;
}

const ElementwiseChain& last_chain(const Program& program) {
  return dynamic_cast<const ElementwiseChain&>(*program.graph.nodes().back().op);
}

TEST(FuseElementwise, OpsInARowBecomeOne) {
  const Program fused = fuse_elementwise(four_ops());
  EXPECT_THAT(op_names(fused.graph), ElementsAre("input", "input", "input", "input", "elementwise_chain"));
  EXPECT_EQ(last_chain(fused).attributes(), "mul(x, #1) sub(#2, x) tanh(x) add(x, #3) dtype=float32");
}

TEST(FuseElementwise, GivesTheSameResult) {
  expect_equal_results("fuse_elementwise", &four_ops);
}

TEST(FuseElementwise, GivesTheSameGradients) {
  expect_equal_results("fuse_elementwise", [] {
    Program program = four_ops();
    Graph& graph = program.graph;
    const Value loss = ops::reduce_sum(graph, ops::square(graph, program.outputs[0]));
    program.outputs = gradients(graph, loss, graph.inputs());
    program.outputs.push_back(loss);
    return program;
  });
}

TEST(FuseElementwise, CountsTheSameOperations) {
  const Program before = four_ops();
  double flops = 0;
  for (const Node& node : before.graph.nodes()) {
    std::vector<TensorType> types;
    for (const Value input : node.inputs) types.push_back(before.graph.type(input));
    if (!types.empty()) flops += node.op->flops(types, node.outputs);
  }
  const Program fused = fuse_elementwise(four_ops());
  EXPECT_EQ(last_chain(fused).flops({}, fused.graph.nodes().back().outputs), flops);
}

TEST(FuseElementwise, ConvertsBeforeAndAfter) {
  const auto build = [] {
    Program program;
    Graph& graph = program.graph;
    const Value x = graph.input({{3, 5}, Dtype::i64}, "x"), y = graph.input({{3, 5}, Dtype::f32}, "y");
    const Value product = ops::mul(graph, ops::cast(graph, x, Dtype::f32), y);
    const Value rounded = ops::cast(graph, product, Dtype::bf16);
    program.outputs = {ops::cast(graph, rounded, Dtype::f32)};  // what is there to round does round
    return program;
  };
  const Program fused = fuse_elementwise(build());
  EXPECT_THAT(op_names(fused.graph), ElementsAre("input", "input", "elementwise_chain", "cast"));
  expect_equal_results("fuse_elementwise", build, 0);
}

TEST(FuseElementwise, AResultThatOthersReadStays) {
  Program program = four_ops();
  Graph& graph = program.graph;
  const Value last = program.outputs[0];
  program.outputs = {last, ops::neg(graph, last), ops::exp(graph, last)};
  const Program fused = fuse_elementwise(std::move(program));
  EXPECT_THAT(op_names(fused.graph),
              ElementsAre("input", "input", "input", "input", "elementwise_chain", "neg", "exp"));
}

TEST(FuseElementwise, OfTwoBranchesOneIsJoined) {
  Program program;
  Graph& graph = program.graph;
  const Value x = graph.input({{6}, Dtype::f32}, "x"), y = graph.input({{6}, Dtype::f32}, "y");
  const Value first = ops::exp(graph, x), second = ops::exp(graph, y);
  program.outputs = {ops::add(graph, first, second)};
  const Program fused = fuse_elementwise(std::move(program));
  EXPECT_THAT(op_names(fused.graph), ElementsAre("input", "input", "exp", "elementwise_chain"));
  EXPECT_EQ(last_chain(fused).attributes(), "exp(x) add(x, #1) dtype=float32");
}

TEST(FuseElementwise, WhatGrowsIsComputedFirst) {
  Program program;
  Graph& graph = program.graph;
  const Value x = graph.input({{6}, Dtype::f32}, "x"), y = graph.input({{90, 6}, Dtype::f32}, "y");
  program.outputs = {ops::add(graph, ops::exp(graph, x), y)};
  const Program fused = fuse_elementwise(std::move(program));
  EXPECT_THAT(op_names(fused.graph), ElementsAre("input", "input", "exp", "add"));
}

TEST(FuseElementwise, LongRowsBecomeSeveral) {
  Program program;
  Graph& graph = program.graph;
  Value x = graph.input({{6}, Dtype::f32}, "x");
  for (std::size_t i = 0; i < ElementwiseChain::max_steps + 2; ++i) x = ops::neg(graph, x);
  program.outputs = {x};
  const Program fused = fuse_elementwise(std::move(program));
  EXPECT_THAT(op_names(fused.graph), ElementsAre("input", "elementwise_chain", "elementwise_chain"));
}

TEST(FuseElementwise, ConstantsAreStillComputedOnce) {
  Program program;
  Graph& graph = program.graph;
  const Value half = ops::mul(graph, ops::neg(graph, graph.constant(1)), graph.constant(0.5F));
  const Value x = graph.input({{}, Dtype::f32}, "x");
  program.outputs = {ops::mul(graph, x, half)};
  const Program fused = fuse_elementwise(std::move(program));
  EXPECT_THAT(op_names(fused.graph), ElementsAre("constant", "constant", "neg", "mul", "input", "mul"));
}

TEST(FuseElementwise, DoesNotMoveAReadPastAnUpdate) {
  const Devices devices{DeviceConfig{}};
  Runtime runtime(devices);
  const VariablePtr w = runtime.variables().create("w", random_values({{6}, Dtype::f32}, 1), {});
  Program program;
  Graph& graph = program.graph;
  const Value half = ops::mul(graph, graph.variable(w), graph.constant(0.5F));
  ops::assign_add(graph, graph.variable(w), graph.variable(w));
  program.outputs = {ops::neg(graph, half)};
  const Program fused = fuse_elementwise(std::move(program));
  EXPECT_THAT(op_names(fused.graph), ElementsAre("constant", "variable", "mul", "assign_add", "neg"));
}

/// An output of as many bytes as a row of a wider type that it reads must not take that row's memory.
TEST(FuseElementwise, AStretchedInputIsNotOverwritten) {
  expect_equal_results(
      "fuse_elementwise",
      [] {
        Program program;
        Graph& graph = program.graph;
        const Value x = graph.input({{2, 3000}, Dtype::f32}, "x"), y = graph.input({{3000}, Dtype::f32}, "y");
        const Value row = ops::reduce_sum(graph, ops::mul(graph, x, y), std::vector<std::int64_t>{0});
        const Value narrow = ops::cast(graph, ops::neg(graph, ops::mul(graph, x, row)), Dtype::f16);
        program.outputs = {ops::cast(graph, narrow, Dtype::f32)};
        return program;
      },
      0);
}

}  // namespace
}  // namespace gpubench
