#include "core/exec/plan/plan.h"

#include <array>
#include <gtest/gtest.h>

#include "core/graph/leaf_ops.h"
#include "core/graph/offload_ops.h"
#include "core/ops/matmul.h"

namespace gpubench::plan_facts_test {
namespace {

Node node_of(OpPtr op, std::vector<TensorType> outputs, Role role = Role::forward) {
  Node node;
  node.op = std::move(op);
  node.outputs = std::move(outputs);
  node.role = role;
  return node;
}

PlanFacts facts_of_product(std::int64_t m, std::int64_t k, std::int64_t n, Dtype dtype, bool is_recomputed = false) {
  const Matmul product;
  const std::array inputs{TensorType{{m, k}, dtype}, TensorType{{k, n}, dtype}};
  PlanFacts facts;
  facts.add(
      node_of(std::make_shared<Matmul>(), product.infer(inputs), is_recomputed ? Role::recomputed : Role::forward),
      inputs, true);
  return facts;
}

TEST(PlanFacts, CountProductsWithRowsThatAreNotAligned) {
  EXPECT_EQ(facts_of_product(3, 8, 16, Dtype::bf16).unaligned_flops, 0);  // the number of rows is of no matter
  EXPECT_EQ(facts_of_product(3, 4, 16, Dtype::bf16).unaligned_flops, 2 * 3 * 4 * 16);
  EXPECT_EQ(facts_of_product(3, 4, 16, Dtype::f32).unaligned_flops, 0);  // 4 numbers of 4 bytes
  EXPECT_EQ(facts_of_product(3, 8, 10, Dtype::bf16).unaligned_flops, 2 * 3 * 8 * 10);
}

TEST(PlanFacts, RecomputationIsTrafficAndNoWork) {
  const PlanFacts facts = facts_of_product(3, 4, 16, Dtype::bf16, true);
  EXPECT_EQ(facts.flops, 0);
  EXPECT_EQ(facts.unaligned_flops, 0);
  EXPECT_EQ(facts.bytes, 2 * (3 * 4 + 4 * 16 + 3 * 16));
  EXPECT_EQ(facts.kernels, 1U);
}

TEST(PlanFacts, CountCopiesBetweenDevicesAndToTheHost) {
  const std::array<TensorType, 1> type{TensorType{{5}, Dtype::f32}};
  PlanFacts facts;
  const auto add = [&](OpPtr op) { facts.add(node_of(std::move(op), {type[0]}), type, true); };
  add(std::make_shared<Transfer>());
  EXPECT_EQ(facts.crossings, 1U);
  EXPECT_EQ(facts.offloaded_bytes, 0);
  add(std::make_shared<Store>());
  add(std::make_shared<Fetch>());
  EXPECT_EQ(facts.crossings, 1U);
  EXPECT_EQ(facts.offloaded_bytes, 20);
}

TEST(PlanFacts, OfReplicasAddUp) {
  PlanFacts sum = facts_of_product(3, 4, 16, Dtype::bf16);
  sum += sum;
  EXPECT_EQ(sum.flops, 2 * 2 * 3 * 4 * 16);
  EXPECT_EQ(sum.unaligned_flops, sum.flops);
  EXPECT_EQ(sum.kernels, 2U);
}

TEST(PlanFacts, UpdatesAndWhatReadsNoInputAreFixedWork) {
  Graph graph;
  const Value input = graph.input({{3, 4}, Dtype::f32}, "x");
  const Value weights = graph.constant(HostTensor({{4, 4}, Dtype::f32}));
  const Value square = graph.apply(std::make_shared<Matmul>(), {weights, weights});
  const Value output = graph.apply(std::make_shared<Matmul>(), {input, square});
  const std::vector<bool> read = nodes_that_read_inputs(graph);
  EXPECT_EQ(read, (std::vector{true, false, false, true}));
  PlanFacts facts;
  for (const Value value : {square, output}) {
    Node node = graph.node(value);
    std::vector<TensorType> inputs;
    for (const Value one : node.inputs) inputs.push_back(graph.type(one));
    facts.add(node, inputs, read[static_cast<std::size_t>(value.node)]);
    node.role = Role::update;
    facts.add(node, inputs, true);
  }
  EXPECT_EQ(facts.flops, 2 * (2 * 4 * 4 * 4 + 2 * 3 * 4 * 4));
  EXPECT_EQ(facts.fixed_flops, facts.flops - 2 * 3 * 4 * 4) << "all but the product of the input";
}

}  // namespace
}  // namespace gpubench::plan_facts_test
