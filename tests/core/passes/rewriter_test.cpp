#include "core/passes/rewriter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/ops/elementwise.h"
#include "core/passes/pass.h"
#include "tests/core/passes/equal_results.h"

namespace gpubench {
namespace {

using testing::ElementsAre;

const TensorType three{{3}, Dtype::f32};

TEST(RemoveDeadCode, KeepsInputsAndWhatIsRead) {
  Program program;
  Graph& graph = program.graph;
  const Value x = graph.input(three, "x");
  graph.input(three, "unused");
  ops::exp(graph, x);
  program.outputs = {ops::neg(graph, x)};
  const Program rest = remove_dead_code(std::move(program));
  EXPECT_THAT(op_names(rest.graph), ElementsAre("input", "input", "neg"));
  EXPECT_EQ(rest.graph.inputs().size(), 2U);
}

TEST(Rewriter, CountsReadersAndOutputs) {
  Program program;
  Graph& graph = program.graph;
  const Value x = graph.input(three, "x");
  const Value y = ops::neg(graph, x), z = ops::add(graph, x, y);
  program.outputs = {z};
  const Rewriter rewriter(program);
  EXPECT_EQ(rewriter.uses(x), 2);
  EXPECT_EQ(rewriter.only_user(x), -1);
  EXPECT_EQ(rewriter.only_user(y), z.node);
  EXPECT_EQ(rewriter.only_user(z), -1) << "an output is read by the caller";
}

TEST(PlaceCopies, CopiesAValueOncePerDevice) {
  Program program;
  Graph& graph = program.graph;
  const Value x = graph.input(three, "x");
  graph.set_device({DeviceId::Kind::cpu, 1, {}});
  const Value a = ops::neg(graph, x), b = ops::exp(graph, x);
  program.outputs = {a, b};
  const Program placed = place_copies(std::move(program));
  EXPECT_THAT(op_names(placed.graph), ElementsAre("input", "transfer", "neg", "exp"));
}

}  // namespace
}  // namespace gpubench
