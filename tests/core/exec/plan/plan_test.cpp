#include "core/exec/plan/plan.h"

#include <array>
#include <gtest/gtest.h>

#include "core/graph/leaf_ops.h"
#include "core/graph/offload_ops.h"
#include "core/ops/matmul.h"

namespace gpubench::plan_facts_test {
namespace {

PlanFacts facts_of_product(std::int64_t m, std::int64_t k, std::int64_t n, Dtype dtype, bool is_recomputed = false) {
  const Matmul product;
  const std::array inputs{TensorType{{m, k}, dtype}, TensorType{{k, n}, dtype}};
  const std::vector<TensorType> outputs = product.infer(inputs);
  PlanFacts facts;
  facts.add(product, inputs, outputs, is_recomputed);
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
  facts.add(Transfer(), type, type, false);
  EXPECT_EQ(facts.crossings, 1U);
  EXPECT_EQ(facts.offloaded_bytes, 0);
  facts.add(Store(), type, type, false);
  facts.add(Fetch(), type, type, false);
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

}  // namespace
}  // namespace gpubench::plan_facts_test
