#include <array>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/graph/leaf_ops.h"
#include "core/ops/elementwise.h"
#include "core/ops/fused_matmul.h"
#include "core/ops/state.h"
#include "core/passes/pass.h"
#include "tests/core/passes/equal_results.h"

namespace gpubench {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::Not;

/// sum + x' dy in a graph of nothing else.
struct Sum {
  Sum() {
    x = program.graph.input({{4, 6}, Dtype::f32}, "x");
    dy = program.graph.input({{4, 5}, Dtype::f32}, "dy");
    sum = program.graph.input({{6, 5}, Dtype::f32}, "sum");
  }
  Value product(MatmulAttributes options = {.transpose_a = true}) { return ops::matmul(program.graph, x, dy, options); }
  Value add(std::vector<Value> values) { return program.graph.apply(std::make_shared<const AddN>(), values); }
  std::vector<std::string> fused(std::vector<Value> outputs, const Fuses& fuses = &fuses_all) {
    program.outputs = std::move(outputs);
    return op_names(fuse_accumulation(std::move(program), fuses).graph);
  }
  Program program;
  Value x, dy, sum;
};

TEST(FuseAccumulation, AProductIsAddedToTheSum) {
  Sum of;
  const Value product = of.product();
  EXPECT_THAT(of.fused({of.add({of.sum, product})}), ElementsAre("input", "input", "input", "matmul_accumulate"));
}

TEST(FuseAccumulation, GivesTheSameResults) {
  expect_equal_results(
      "fuse_accumulation",
      [] {
        Sum of;
        const Value first = of.add({of.sum, of.product()});
        const Value both = of.add({ops::square(of.program.graph, first), of.product()});
        of.program.outputs = {both, first};
        return std::move(of.program);
      },
      1e-5F, &fuses_all);
}

TEST(FuseAccumulation, LeavesAProductThatOthersRead) {
  Sum of;
  const Value product = of.product();
  EXPECT_THAT(of.fused({of.add({of.sum, product}), product}), Not(Contains("matmul_accumulate")));
}

TEST(FuseAccumulation, LeavesSumsOfMoreThanOneProduct) {
  Sum of;
  const Value one = of.product(), other = of.product();
  EXPECT_THAT(of.fused({of.add({of.sum, one, other})}), Not(Contains("matmul_accumulate")));
}

TEST(FuseAccumulation, LeavesWhatADeviceDoesNotFuse) {
  Sum of;
  const Value product = of.product();
  const auto none = [](const DeviceId&, const Op&, TensorTypes) { return false; };
  EXPECT_THAT(of.fused({of.add({of.sum, product})}, none), Not(Contains("matmul_accumulate")));
}

TEST(FuseAccumulation, LeavesAProductBeforeAVariableChanges) {
  const Devices devices{DeviceConfig{}};
  Runtime runtime(devices);
  const VariablePtr state = runtime.variables().create("state", HostTensor::zeros({{4, 6}, Dtype::f32}), {});
  Sum of;
  Graph& graph = of.program.graph;
  const Value before = graph.variable(state);
  const Value product = ops::matmul(graph, before, of.dy, {.transpose_a = true});
  ops::assign(graph, before, of.x);
  EXPECT_THAT(of.fused({of.add({of.sum, product})}), Not(Contains("matmul_accumulate")));
}

}  // namespace
}  // namespace gpubench
