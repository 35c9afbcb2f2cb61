#include <algorithm>
#include <array>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/graph/gradients.h"
#include "core/ops/cast.h"
#include "core/ops/elementwise.h"
#include "core/ops/loss_scale.h"
#include "core/ops/matmul.h"
#include "core/ops/optimizer.h"
#include "core/ops/reduce.h"
#include "core/ops/shape_ops.h"
#include "core/ops/state.h"
#include "core/passes/pass.h"
#include "core/passes/rewriter.h"
#include "tests/core/passes/equal_results.h"

namespace gpubench {
namespace {

const TensorType floats{{4, 4}, Dtype::f32};

std::ptrdiff_t casts_in(const Graph& graph) {
  const std::vector<std::string> names = op_names(graph);
  return std::count(names.begin(), names.end(), "cast");
}

Program merged(Program program) {
  return remove_dead_code(merge_casts(std::move(program)));
}

/// A variable that no store knows: passes look at graphs alone.
VariablePtr variable(Dtype dtype = Dtype::f32) {
  return std::make_shared<const Variable>(Variable{1, "w", {{4, 4}, dtype}, {}, true});
}

/// x W, then once more by the same weights, in bfloat16 with float32 weights: the loss and its gradient by both inputs.
Program two_layers() {
  Program program;
  Graph& graph = program.graph;
  const Value x = graph.input(floats, "x"), w = graph.input(floats, "w");
  const auto narrow = [&](Value value) { return ops::cast(graph, value, Dtype::bf16); };
  const auto wide = [&](Value value) { return ops::cast(graph, value, Dtype::f32); };
  const Value hidden = ops::relu(graph, ops::matmul(graph, narrow(x), narrow(w)));
  const Value y = ops::matmul(graph, narrow(wide(hidden)), narrow(w));
  const Value loss = ops::reduce_mean(graph, ops::square(graph, wide(y)));
  const std::array wanted{x, w};
  const std::vector<Value> by = gradients(graph, loss, wanted);
  program.outputs = {loss, by[0], by[1]};
  return program;
}

TEST(MergeCasts, CastsAWeightOnceAndNothingToAndFro) {
  const Program before = two_layers(), after = merged(two_layers());
  // Of what is left, x, w and y are cast once, and so are the gradients of all three.
  EXPECT_LT(casts_in(after.graph), casts_in(before.graph));
  EXPECT_EQ(casts_in(after.graph), 7);
}

TEST(MergeCasts, GivesTheSameResults) {
  expect_equal_results(
      "merge_casts", [] { return two_layers(); }, 1e-2F);
}

TEST(MergeCasts, LeavesWhatIsRecomputedApart) {
  Program program;
  Graph& graph = program.graph;
  const Value x = graph.input(floats, "x");
  const OwnerPtr dense = make_owner("dense");
  for (const Role role : {Role::forward, Role::recomputed}) {
    const GraphScope scope(graph, {}, dense, role);
    program.outputs.push_back(ops::relu(graph, ops::cast(graph, x, Dtype::bf16)));
  }
  EXPECT_EQ(casts_in(merged(std::move(program)).graph), 2);  // the first one need not be kept
}

TEST(MergeCasts, KeepsACastThatRounds) {
  Program program;
  const Value x = program.graph.input(floats, "x");
  const Value rounded = ops::cast(program.graph, x, Dtype::bf16);
  program.outputs = {ops::cast(program.graph, rounded, Dtype::f32)};
  EXPECT_EQ(casts_in(merged(std::move(program)).graph), 2);
}

TEST(MergeCasts, GoesOnFromWhatWasWidened) {
  Program program;
  const Value x = program.graph.input({{4, 4}, Dtype::u8}, "pixels");
  program.outputs = {ops::cast(program.graph, ops::cast(program.graph, x, Dtype::f32), Dtype::bf16),
                     ops::cast(program.graph, ops::cast(program.graph, x, Dtype::f32), Dtype::i32)};
  const Program after = merged(std::move(program));
  const auto source_of = [&](Value cast) { return after.graph.type(after.graph.node(cast).inputs[0]).dtype; };
  EXPECT_EQ(source_of(after.outputs[0]), Dtype::u8);
  EXPECT_EQ(source_of(after.outputs[1]), Dtype::f32);  // out of range, float32 and uint8 become integers differently
}

TEST(MergeCasts, AVariableIsCastAnewAfterItsUpdate) {
  const VariablePtr w = variable();
  Program program;
  Graph& graph = program.graph;
  const Value value = graph.variable(w);
  const Value before = ops::cast(graph, value, Dtype::bf16), again = ops::cast(graph, value, Dtype::bf16);
  const Value flat = ops::cast(graph, ops::reshape(graph, value, {16}), Dtype::bf16);
  ops::assign_add(graph, value, graph.input(floats, "by"));
  const Value after = ops::cast(graph, value, Dtype::bf16);
  const Value flat_after = ops::cast(graph, ops::reshape(graph, value, {16}), Dtype::bf16);
  program.outputs = {before, again, after, flat, flat_after};
  const Program result = merged(std::move(program));
  EXPECT_EQ(result.outputs[0], result.outputs[1]);
  EXPECT_NE(result.outputs[0], result.outputs[2]);
  EXPECT_NE(result.outputs[3], result.outputs[4]);
}

TEST(MergeCasts, ACopyOfAVariableStaysWhatTheVariableWas) {
  const VariablePtr w = variable(Dtype::bf16);
  Program program;
  Graph& graph = program.graph;
  const Value value = graph.variable(w);
  const Value old = ops::cast(graph, ops::cast(graph, value, Dtype::f32), Dtype::bf16);
  ops::assign_add(graph, value, graph.input({{4, 4}, Dtype::bf16}, "by"));
  program.outputs = {old};
  const Program result = merged(std::move(program));
  EXPECT_EQ(result.graph.node(result.outputs[0]).op->name(), "cast");
}

TEST(MergeCasts, UpdatesReadGradientsOf16Bits) {
  const VariablePtr w = variable();
  Program program;
  Graph& graph = program.graph;
  const Value rate = graph.input({{}, Dtype::f32}, "rate"), gradient = graph.input({{4, 4}, Dtype::bf16}, "gradient");
  const std::array wide{ops::cast(graph, gradient, Dtype::f32)}, variables{graph.variable(w)};
  ops::sgd_update(graph, {}, rate, variables, wide, {});
  const auto unscaled = ops::unscale(graph, rate, wide);
  program.outputs = {unscaled.gradients[0], unscaled.found_infinity};
  const Program result = merged(std::move(program));
  EXPECT_EQ(casts_in(result.graph), 0);
  EXPECT_EQ(result.graph.node(result.outputs[0]).op->name(), "unscale");
  EXPECT_EQ(result.graph.type(result.outputs[0]), floats);
}

}  // namespace
}  // namespace gpubench
