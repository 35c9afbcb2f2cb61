#include <array>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/graph/gradients.h"
#include "core/ops/bias.h"
#include "core/ops/elementwise.h"
#include "core/ops/fused_matmul.h"
#include "core/ops/reduce.h"
#include "core/ops/state.h"
#include "core/passes/pass.h"
#include "tests/core/passes/equal_results.h"

namespace gpubench {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::Not;

/// Loss of x w + b and its gradients by w and b.
Program dense(Shape x_shape, MatmulAttributes options = {}) {
  Program program;
  Graph& graph = program.graph;
  const Value x = graph.input({std::move(x_shape), Dtype::f32}, "x");
  const Value w = graph.input({options.transpose_b ? Shape{5, 6} : Shape{6, 5}, Dtype::f32}, "w");
  const Value b = graph.input({{5}, Dtype::f32}, "b");
  const Value y = ops::bias_add(graph, ops::matmul(graph, x, w, options), b);
  const Value loss = ops::reduce_mean(graph, ops::square(graph, y));
  const std::array wanted{w, b};
  program.outputs = gradients(graph, loss, wanted);
  program.outputs.push_back(loss);
  return program;
}

/// dy, its sum and the product of it, in a graph of nothing else.
struct Pair {
  Pair() {
    x = program.graph.input({{4, 6}, Dtype::f32}, "x");
    dy = program.graph.input({{4, 5}, Dtype::f32}, "dy");
  }
  Value product(MatmulAttributes options = {.transpose_a = true}) { return ops::matmul(program.graph, x, dy, options); }
  Value sum() { return ops::bias_gradient(program.graph, dy); }
  std::vector<std::string> fused(std::vector<Value> outputs, const Fuses& fuses = &fuses_all) {
    program.outputs = std::move(outputs);
    return op_names(fuse_bias_gradient(std::move(program), fuses).graph);
  }
  Program program;
  Value x, dy;
};

TEST(FuseBiasGradient, ProductAndSumBecomeOneOp) {
  for (const bool transposed : {false, true}) {
    const auto names =
        op_names(apply_passes(dense({4, 6}, {.transpose_b = transposed}), {}, {.fuses = &fuses_all}).graph);
    EXPECT_THAT(names, Contains("matmul_bias_gradient"));
    EXPECT_THAT(names, Not(Contains("bias_gradient")));
  }
}

TEST(FuseBiasGradient, GivesTheSameResults) {
  for (const bool transposed : {false, true}) {
    expect_equal_results(
        "fuse_bias_gradient",
        [&] {
          return dense({4, 6}, {.transpose_b = transposed});
        },
        1e-5F, &fuses_all);
  }
}

TEST(FuseBiasGradient, StandsWhereTheLaterOneStood) {
  Pair sum_first;
  const Value sum = sum_first.sum();
  const Value product = sum_first.product();
  EXPECT_THAT(sum_first.fused({sum, product}), ElementsAre("input", "input", "matmul_bias_gradient"));
  Pair product_first;
  const Value before = product_first.product();
  EXPECT_THAT(product_first.fused({before, product_first.sum()}),
              ElementsAre("input", "input", "matmul_bias_gradient"));
}

TEST(FuseBiasGradient, LeavesADeviceAloneThatGainsNothing) {
  Pair pair;
  const Value product = pair.product();
  const auto never = [](const DeviceId&, const Op&, TensorTypes) { return false; };
  EXPECT_THAT(pair.fused({product, pair.sum()}, never), ElementsAre("input", "input", "matmul", "bias_gradient"));
}

TEST(FuseBiasGradient, LeavesWhatIsReadInBetween) {
  Pair pair;
  const Value sum = pair.sum();
  const Value squared = ops::square(pair.program.graph, sum);
  const Value product = pair.product();
  EXPECT_THAT(pair.fused({squared, product}), ElementsAre("input", "input", "bias_gradient", "square", "matmul"));
}

TEST(FuseBiasGradient, LeavesBatchesAndProductsAlongRows) {
  EXPECT_THAT(op_names(apply_passes(dense({2, 4, 6}), {}, {.fuses = &fuses_all}).graph), Contains("bias_gradient"));
  Pair along_rows;
  const Value product = ops::matmul(along_rows.program.graph, along_rows.dy, along_rows.dy, {.transpose_b = true});
  EXPECT_THAT(along_rows.fused({product, along_rows.sum()}), Contains("bias_gradient"));
}

TEST(FuseBiasGradient, DoesNotMoveAReadPastAnUpdate) {
  const Devices devices{DeviceConfig{}};
  Runtime runtime(devices);
  const VariablePtr total = runtime.variables().create("total", random_values({{5}, Dtype::f32}, 1), {});
  Pair pair;
  const Value sum = pair.sum();
  Graph& graph = pair.program.graph;
  ops::assign_add(graph, graph.variable(total), graph.variable(total));
  const Value product = pair.product();
  EXPECT_THAT(pair.fused({sum, product}), Contains("bias_gradient"));
}

}  // namespace
}  // namespace gpubench
