// That a device computes the same from turned filters, CudaConvTest holds: the CPU does not read them.
#include <array>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/graph/gradients.h"
#include "core/ops/conv.h"
#include "core/ops/elementwise.h"
#include "core/ops/pool.h"
#include "core/ops/reduce.h"
#include "core/ops/state.h"
#include "core/passes/pass.h"
#include "tests/core/passes/equal_results.h"

namespace gpubench {
namespace {

using testing::ElementsAre;

/// What each node of the graph that is a convolution or a transpose does.
std::vector<std::string> turns(const Graph& graph) {
  std::vector<std::string> result;
  for (const Node& node : graph.nodes()) {
    const std::string name(node.op->name());
    if (name == "transpose") result.push_back(name);
    if (!name.starts_with("conv2d")) continue;
    result.push_back(node.op->attributes().find("turned") == std::string::npos ? name : "turned " + name);
  }
  return result;
}

class TurnFilters : public testing::Test {
 protected:
  Devices devices_{DeviceConfig{}};
  Runtime runtime_{devices_};  // outlives the graphs, whose variables it holds

  VariablePtr variable(const std::string& name, Shape shape) {
    return runtime_.variables().create(name, random_values({std::move(shape), Dtype::f32}, 1), {});
  }

  Program program_;
  Graph& graph_ = program_.graph;
  const Value x_ = graph_.input({{2, 6, 6, 3}, Dtype::f32}, "x");
};

TEST_F(TurnFilters, ATrainingStepTurnsAFilterOnceForBothDirections) {
  const VariablePtr filter = variable("f", {3, 3, 3, 8}), seen = variable("seen", {1});
  const Value f = graph_.variable(filter);
  const Value y = ops::conv2d(graph_, x_, f);
  ops::assign_add(graph_, graph_.variable(seen), graph_.variable(seen));  // an effect, and not on the filter
  const std::array wanted{x_, f};
  program_.outputs = gradients(graph_, ops::reduce_mean(graph_, ops::square(graph_, y)), wanted);
  const Program turned = turn_filters(std::move(program_), &fuses_all);
  EXPECT_THAT(turns(turned.graph),
              ElementsAre("transpose", "turned conv2d", "turned conv2d_input_gradient", "conv2d_filter_gradient"));
  for (const Node& node : turned.graph.nodes()) {
    if (node.op->name() == "transpose") {
      EXPECT_EQ(node.outputs[0].shape, (Shape{8, 3, 3, 3}));
    }
  }
}

TEST_F(TurnFilters, AFilterThatChangesInBetweenIsTurnedAgain) {
  const Value f = graph_.variable(variable("f", {3, 3, 3, 3}));
  const Conv2DAttributes same{.padding = Padding::same};
  const Value once = ops::conv2d(graph_, x_, f, same);
  const Value twice = ops::conv2d(graph_, once, f, same);
  ops::assign_add(graph_, f, f);
  program_.outputs = {ops::conv2d(graph_, twice, f, same)};
  EXPECT_THAT(turns(turn_filters(std::move(program_), &fuses_all).graph),
              ElementsAre("transpose", "turned conv2d", "turned conv2d", "transpose", "turned conv2d"));
}

TEST_F(TurnFilters, OnlyWhereTheDeviceGains) {
  const Value f = graph_.variable(variable("f", {3, 3, 3, 8})), g = graph_.variable(variable("g", {1, 1, 8, 4}));
  program_.outputs = {ops::conv2d(graph_, ops::conv2d(graph_, x_, f), g)};
  const auto first = [](const DeviceId&, const Op& op, TensorTypes inputs) {
    return op.name() == "conv2d" && inputs[1].shape == Shape{8, 3, 3, 3};
  };
  EXPECT_THAT(turns(turn_filters(std::move(program_), first).graph),
              ElementsAre("transpose", "turned conv2d", "conv2d"));
}

TEST_F(TurnFilters, AConvolutionWithItsPoolReadsATurnedFilterToo) {
  const Value f = graph_.variable(variable("f", {3, 3, 3, 8}));
  program_.outputs = {ops::max_pool2d(graph_, ops::conv2d(graph_, x_, f))};
  const Program turned = apply_passes(std::move(program_), {}, {.fuses = &fuses_all});
  EXPECT_THAT(turns(turned.graph), ElementsAre("transpose", "turned conv2d_max_pool"));
  EXPECT_EQ(turned.graph.type(turned.outputs[0]).shape, (Shape{2, 2, 2, 8}));
}

}  // namespace
}  // namespace gpubench
