// The graphs that loss scaling adds; what they compute is tested from scripts, eagerly and planned.
#include "core/train/loss_scale.h"

#include <algorithm>
#include <gmock/gmock.h>

#include "core/graph/leaf_ops.h"
#include "core/passes/pass.h"
#include "tests/core/train/fixture.h"
#include "tests/support/expect_error.h"
#include "tests/support/fake_variables.h"

namespace gpubench {
namespace {

using support::cpu;

using support::FakeVariables;
using support::TrainTest;
using ::testing::ElementsAre;

LossScale loss_scale(const ConfigEntries& options = {}) {
  return LossScale(Config("LossScaleOptimizer", LossScale::fields(), options));
}

std::vector<std::string> ops_in(const Graph& graph) {
  std::vector<std::string> names;
  for (const Node& node : graph.nodes()) {
    if (!node.inputs.empty()) names.emplace_back(node.op->name());
  }
  return names;
}

/// The update of one variable on each device.
Graph update_on(const std::vector<DeviceId>& devices, const ConfigEntries& options = {}) {
  FakeVariables factory;
  std::vector<VariablePtr> variables;
  for (const DeviceId& device : devices) {
    variables.push_back(factory.create("w", HostTensor::zeros({{2, 3}, Dtype::f32}), device, true, nullptr));
  }
  const OptimizerPtr optimizer = make_optimizer("sgd");
  optimizer->build(factory, variables);
  LossScale scale = loss_scale(options);
  scale.build(factory, devices[0]);
  Graph graph;
  std::vector<Value> gradients;
  for (const VariablePtr& variable : variables) {
    const GraphScope scope(graph, variable->device, "gradient");
    gradients.push_back(graph.input(variable->type, "g"));
  }
  scale.apply_scaled(graph, *optimizer, gradients, variables);
  return graph;
}

TEST(LossScale, UnscalesByOneOpAndCountsWhatItSkips) {
  EXPECT_THAT(ops_in(update_on({cpu(0)})), ElementsAre("unscale", "cast", "sub", "assign_add", "sgd_update", "cast",
                                                       "assign_add", "loss_scale_update"));
}

TEST(LossScale, AFixedOneIsNotUpdated) {
  const std::vector<std::string> ops = ops_in(update_on({cpu(0)}, {{"dynamic", false}}));
  EXPECT_EQ(std::ranges::count(ops, "loss_scale_update"), 0);
  EXPECT_EQ(std::ranges::count(ops, "unscale"), 1);
}

TEST(LossScale, AnOverflowOnOneDeviceSkipsTheStepOnAll) {
  const Graph graph = update_on({cpu(0), cpu(1)});
  const std::vector<std::string> ops = ops_in(graph);
  EXPECT_EQ(std::ranges::count(ops, "unscale"), 2);
  EXPECT_EQ(std::ranges::count(ops, "logical_or"), 1);
  std::vector<Value> flags;
  for (const Node& node : graph.nodes()) {
    if (node.op->name() == "sgd_update") flags.push_back(node.inputs[1]);
  }
  ASSERT_EQ(flags.size(), 2U);
  EXPECT_EQ(flags[0], flags[1]);
  EXPECT_EQ(graph.node(flags[0]).op->name(), "logical_or");
}

TEST(LossScale, RefusesOptionsThatMakeNoSense) {
  EXPECT_ERROR("LossScaleOptimizer: initial_scale must be a number from 1, got 0.5",
               loss_scale({{"initial_scale", 0.5}}));
  EXPECT_ERROR("LossScaleOptimizer: dynamic_growth_steps must be at least 1, got 0",
               loss_scale({{"dynamic_growth_steps", std::int64_t{0}}}));
}

TEST_F(TrainTest, AMixedStepCastsEachWeightOnceAndUpdatesByGradientsOf16Bits) {
  const auto narrow = [](std::int64_t units, const char* activation, Shape input_shape = {}) {
    return make_layer("Dense", {{"units", units},
                                {"activation", std::string(activation)},
                                {"input_shape", input_shape},
                                {"dtype", std::string("mixed_float16")}});
  };
  const auto model = std::make_shared<Model>("mixed", std::vector{narrow(8, "relu", {4}), narrow(3, "softmax")});
  CompileConfig config = classifier();
  config.loss_scale = std::make_shared<LossScale>(loss_scale());
  const std::vector<TensorType> element{{{6, 4}, Dtype::f32}, {{6, 3}, Dtype::f32}};
  Trainer prepared = trainer(model, config);
  prepared.prepare_training(element);
  const MetricStates metrics(runtime, factory, figures_of(*model, config), {});
  StepGraph step = training_graph(*model, config, metrics, element);
  const Program program = apply_passes({std::move(step.graph), {}}, {});

  std::ptrdiff_t weights_cast = 0;
  for (const Node& node : program.graph.nodes()) {
    const bool cast = node.op->name() == "cast";
    if (cast && dynamic_cast<const VariableOp*>(program.graph.node(node.inputs[0]).op.get()) != nullptr) ++weights_cast;
    if (node.op->name() != "unscale") continue;
    ASSERT_EQ(node.inputs.size(), 5U);
    for (std::size_t i = 1; i < node.inputs.size(); ++i) {
      EXPECT_EQ(program.graph.type(node.inputs[i]).dtype, Dtype::f16) << "gradient " << i;
    }
  }
  EXPECT_EQ(weights_cast, 4);
}

}  // namespace
}  // namespace gpubench
