#include "core/passes/vectorize.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/exec/run/in_place_program.h"
#include "core/ops/cast.h"
#include "core/ops/elementwise.h"
#include "core/ops/matmul.h"
#include "core/ops/reduce.h"
#include "core/ops/shape_ops.h"
#include "tests/core/passes/equal_results.h"
#include "tests/support/device_configs.h"

namespace gpubench {
namespace {

using testing::ElementsAre;

// Each op's form is held against single elements by its cases (tests/support/case_vectorize.cpp); here is how they
// join.

std::vector<float> run(const Program& program, const std::vector<HostTensor>& inputs) {
  static const Devices devices{support::without_gpus()};
  InPlaceProgram host(devices, program);
  std::vector<std::byte*> from;
  for (const HostTensor& input : inputs) from.push_back(input.data());
  HostTensor result(host.output_type(0));
  std::byte* const to = result.data();
  host.run(from, {&to, 1});
  const auto values = result.values<float>();
  return {values.begin(), values.end()};
}

TEST(Vectorize, BroadcastsOperandsOfLowerRankWithinEachElement) {
  Program element;
  const Value x = element.graph.input({{2, 3}, Dtype::f32}, "x"), row = element.graph.input({{3}, Dtype::f32}, "row");
  const Value factor = element.graph.input({{}, Dtype::f32}, "factor");
  element.outputs = {ops::mul(element.graph, ops::add(element.graph, x, row), factor)};
  const std::optional<Program> block = vectorize(element, 2);
  ASSERT_TRUE(block);
  EXPECT_EQ(to_string(block->graph.type(block->outputs[0])), "float32[2, 2, 3]");
  const auto of = [](Shape shape, std::vector<float> values) {
    return HostTensor::of<float>(std::move(shape), values);
  };
  EXPECT_THAT(run(*block, {of({2, 2, 3}, {0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3}), of({2, 3}, {0, 1, 2, 3, 4, 5}),
                           of({2}, {1, 10})}),
              ElementsAre(0, 1, 2, 1, 2, 3, 50, 60, 70, 60, 70, 80));
}

TEST(Vectorize, ComputesWhatElementsShareOnce) {
  Program element;
  const Value x = element.graph.input({{2}, Dtype::f32}, "x");
  const Value shared = ops::exp(element.graph, element.graph.constant(0.0F));
  element.outputs = {ops::add(element.graph, x, shared)};
  const std::optional<Program> block = vectorize(element, 4);
  ASSERT_TRUE(block);
  for (const Node& node : block->graph.nodes()) {
    if (node.op->name() != "exp") continue;
    EXPECT_EQ(node.outputs[0].rank(), 0);
  }
}

TEST(Vectorize, RepeatsOutputsThatDependOnNoElement) {
  Program element;
  element.graph.input({{2}, Dtype::f32}, "x");
  element.outputs = {element.graph.constant(7.0F)};
  const std::optional<Program> block = vectorize(element, 3);
  ASSERT_TRUE(block);
  EXPECT_THAT(run(*block, {HostTensor::zeros({{3, 2}, Dtype::f32})}), ElementsAre(7, 7, 7));
}

TEST(Vectorize, IsNothingWhereAnOpHasNoForm) {
  Program element;
  const Value x = element.graph.input({{2, 3}, Dtype::f32}, "x");
  element.outputs = {ops::matmul(element.graph, x, element.graph.constant(HostTensor::zeros({{3, 4}, Dtype::f32})))};
  EXPECT_FALSE(vectorize(element, 3));
}

TEST(Vectorize, LeavesCastsAndScalesToOneChain) {
  Program element;
  const Value bytes = element.graph.input({{28, 28, 1}, Dtype::u8}, "bytes");
  const Value pixels = ops::cast(element.graph, bytes, Dtype::f32);
  const Value scaled = ops::div(element.graph, pixels, element.graph.constant(255.0F));
  element.outputs = {ops::sub(element.graph, scaled, element.graph.constant(0.5F))};
  const Program fused = apply_passes(*vectorize(element, 32), {});
  EXPECT_THAT(op_names(fused.graph),
              testing::UnorderedElementsAre("input", "constant", "constant", "elementwise_chain"));
}

}  // namespace
}  // namespace gpubench
