#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "core/graph/exchange_ops.h"
#include "core/ops/elementwise.h"
#include "core/ops/state.h"
#include "core/passes/pass.h"
#include "core/passes/rewriter.h"

namespace gpubench {
namespace {

using ::testing::ElementsAre;

constexpr std::int64_t length = 16;
constexpr std::size_t tensor_bytes = length * sizeof(float);

VariablePtr variable(const std::string& name) {
  return std::make_shared<const Variable>(Variable{-1, name, {{length}, Dtype::f32}, {}, true});
}

/// Gradients that are made one after the other, all-reduced in the order that is given, and then added to variables.
Program chain(int gradients, const std::vector<int>& order) {
  Program program;
  Graph& graph = program.graph;
  std::vector<Value> values;
  Value value = graph.input({{length}, Dtype::f32}, "x");
  for (int i = 0; i < gradients; ++i) {
    value = ops::tanh(graph, value);
    values.push_back(ops::mul(graph, value, value));
  }
  std::vector<Value> sums(values.size());
  for (const int i : order)
    sums[static_cast<std::size_t>(i)] = all_reduce_in_bucket(graph, values[static_cast<std::size_t>(i)]);
  for (std::size_t i = 0; i < sums.size(); ++i)
    ops::assign_add(graph, graph.variable(variable("v" + std::to_string(i))), sums[i]);
  return program;
}

/// What runs, in order; exchanges with the number of their tensors.
std::vector<std::string> steps(const Program& program) {
  std::vector<std::string> names;
  for (const Node& node : program.graph.nodes()) {
    if (node.inputs.empty()) continue;
    std::string name(node.op->name());
    if (dynamic_cast<const ExchangeOp*>(node.op.get()) != nullptr) name += " " + std::to_string(node.inputs.size());
    names.push_back(std::move(name));
  }
  return names;
}

TEST(BucketAllReduces, ABucketBeginsWhenItsLastTensorIsThereAndEndsBeforeItIsRead) {
  EXPECT_THAT(steps(bucket_all_reduces(chain(3, {0, 1, 2}), 2 * tensor_bytes)),
              ElementsAre("tanh", "mul", "tanh", "mul", "all_reduce_begin 2", "tanh", "mul", "all_reduce_begin 1",
                          "all_reduce_end 2", "assign_add", "assign_add", "all_reduce_end 1", "assign_add"));
}

TEST(BucketAllReduces, OneBucketWithNothingBesideItHappensAtOnce) {
  EXPECT_THAT(steps(bucket_all_reduces(chain(2, {0, 1}), 1 << 20)),
              ElementsAre("tanh", "mul", "tanh", "mul", "all_reduce 2", "assign_add", "assign_add"));
}

TEST(BucketAllReduces, ATensorLargerThanABucketHasItsOwn) {
  EXPECT_THAT(steps(bucket_all_reduces(chain(2, {0, 1}), 1)),
              ElementsAre("tanh", "mul", "all_reduce_begin 1", "tanh", "mul", "all_reduce_begin 1", "all_reduce_end 1",
                          "assign_add", "all_reduce_end 1", "assign_add"));
}

TEST(BucketAllReduces, ExchangesBeginInTheProgramsOrderHoweverTheirTensorsAreMade) {
  // Those of the last gradient come first on all replicas, so the others wait for it.
  EXPECT_THAT(
      steps(bucket_all_reduces(chain(3, {2, 1, 0}), 1)),
      ElementsAre("tanh", "mul", "tanh", "mul", "tanh", "mul", "all_reduce_begin 1", "all_reduce_begin 1",
                  "all_reduce 1", "assign_add", "all_reduce_end 1", "assign_add", "all_reduce_end 1", "assign_add"));
}

TEST(BucketAllReduces, WhatIsReadBeforeTheNextTensorIsMadeIsABucketOfItsOwn) {
  Program program;
  Graph& graph = program.graph;
  const Value x = graph.input({{length}, Dtype::f32}, "x");
  const Value early = all_reduce_in_bucket(graph, ops::tanh(graph, x));
  const Value late = all_reduce_in_bucket(graph, ops::tanh(graph, early));
  program.outputs = {late};
  EXPECT_THAT(steps(bucket_all_reduces(std::move(program), 1 << 20)),
              ElementsAre("tanh", "all_reduce 1", "tanh", "all_reduce 1"));
}

TEST(BucketAllReduces, CopiesWhatOthersReadOrOwn) {
  Program program;
  Graph& graph = program.graph;
  const Value x = graph.input({{length}, Dtype::f32}, "x");
  const Value y = ops::tanh(graph, x);
  // An input, a value that is an output as well, and one that nobody else reads.
  program.outputs = {all_reduce(graph, x), all_reduce_in_bucket(graph, y), y,
                     all_reduce_in_bucket(graph, ops::exp(graph, x))};
  const Program whole = program;
  EXPECT_THAT(steps(copy_exchanged(bucket_all_reduces(std::move(program), 1 << 20))),
              ElementsAre("tanh", "add_n", "all_reduce 1", "exp", "add_n", "all_reduce 2"));
  EXPECT_THAT(steps(copy_exchanged(whole)),
              ElementsAre("tanh", "add_n", "all_reduce 1", "add_n", "all_reduce 1", "exp", "all_reduce 1"))
      << "without buckets";
}

TEST(BucketAllReduces, ProgramsWithoutExchangesStayAsTheyAre) {
  Program program;
  program.outputs = {ops::tanh(program.graph, program.graph.input({{length}, Dtype::f32}, "x"))};
  EXPECT_THAT(steps(bucket_all_reduces(std::move(program), 1)), ElementsAre("tanh"));
}

}  // namespace
}  // namespace gpubench
