// What the pass forms, and what it leaves alone; what the fused op computes is compared on the simulated GPU, in
// tests/core/backend/cuda/fused_metrics_test.cpp.
#include <array>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/graph/gradients.h"
#include "core/ops/cast.h"
#include "core/ops/elementwise.h"
#include "core/ops/loss.h"
#include "core/ops/measured_cross_entropy.h"
#include "core/ops/metric.h"
#include "core/ops/reduce.h"
#include "core/ops/shape_ops.h"
#include "core/ops/state.h"
#include "core/passes/pass.h"
#include "core/passes/rewriter.h"
#include "tests/core/passes/equal_results.h"
#include "tests/support/fake_variables.h"

namespace gpubench {
namespace {

using testing::Contains;
using testing::Not;

/// A step of a classifier of 4 rows of 3 classes, in parts that tests put together.
struct Step {
  explicit Step(const TensorType& label_type = {{4}, Dtype::i64}) {
    logits = graph().input({{4, 3}, Dtype::f32}, "logits");
    labels = graph().input(label_type, "labels");
  }
  Graph& graph() { return program.graph; }
  VariablePtr state() {
    states.push_back(variables.create("state", HostTensor::zeros({{2}, Dtype::f32}), {}, false, nullptr));
    return states.back();
  }
  void loss() {
    losses = ops::softmax_cross_entropy(graph(), logits, labels);
    probabilities = {losses.node, 1};
  }
  Value add_mean(Value values) { return ops::accumulate_mean(graph(), graph().variable(state()), values); }
  Value accuracy() { return ops::top_k_matches(graph(), probabilities, labels); }
  void gradient() {
    const std::array wanted{logits};
    program.outputs.push_back(gradients(graph(), ops::reduce_mean(graph(), losses), wanted)[0]);
  }
  void whole() {
    loss();
    add_mean(losses);
    add_mean(accuracy());
    gradient();
  }
  std::vector<std::string> fused(const Fuses& fuses = &fuses_all) {
    program = fuse_metrics(remove_dead_code(std::move(program)), fuses);
    return op_names(program.graph);
  }
  const MeasuredCrossEntropy* measured() const {
    for (const Node& node : program.graph.nodes()) {
      if (const auto* const op = op_as<MeasuredCrossEntropy>(node)) return op;
    }
    return nullptr;
  }

  support::FakeVariables variables;
  std::vector<VariablePtr> states;
  Program program;
  Value logits, labels, losses, probabilities;
};

const auto is_left = [](const std::vector<std::string>& names) {
  EXPECT_THAT(names, Not(Contains("measured_cross_entropy")));
};

TEST(FuseMetrics, AStepBecomesOneOp) {
  for (const TensorType& labels : {TensorType{{4}, Dtype::i64}, TensorType{{4, 3}, Dtype::f32}}) {
    Step step(labels);
    step.whole();
    const auto names = step.fused();
    EXPECT_EQ(std::ranges::count(names, "measured_cross_entropy"), 1);
    for (const char* part : {"softmax_cross_entropy", "softmax_cross_entropy_gradient", "sparse_softmax_cross_entropy",
                             "sparse_softmax_cross_entropy_gradient", "top_k_matches", "accumulate_mean"}) {
      EXPECT_THAT(names, Not(Contains(part)));
    }
    EXPECT_EQ(step.measured()->attributes(), "gradient=true adds=true ranks_logits=false metrics=[1]");
  }
}

TEST(FuseMetrics, ItsOutputsReplaceThoseOfTheParts) {
  Step step;
  step.loss();
  const Value of_losses = step.add_mean(step.losses), of_matches = step.add_mean(step.accuracy());
  step.gradient();
  const Value later = ops::neg(step.graph(), step.probabilities);
  std::ranges::copy(std::array{of_losses, of_matches, later}, std::back_inserter(step.program.outputs));
  step.fused();
  std::vector<std::int32_t> outputs;
  for (const Value output : step.program.outputs) {
    const Node& node = step.program.graph.node(output);
    outputs.push_back(op_as<MeasuredCrossEntropy>(node) ? output.output : node.inputs[0].output);
  }
  EXPECT_THAT(outputs, testing::ElementsAre(1, 2, 3, 0));
}

TEST(FuseMetrics, AnEvaluationHasNoGradient) {
  Step step;
  step.loss();
  step.add_mean(step.losses);
  step.add_mean(ops::top_k_matches(step.graph(), step.probabilities, step.labels, 2));
  step.fused();
  ASSERT_NE(step.measured(), nullptr);
  EXPECT_EQ(step.measured()->attributes(), "gradient=false adds=true ranks_logits=false metrics=[2]");
}

TEST(FuseMetrics, AReplicasSumsAreOutputs) {
  Step step;
  step.loss();
  const Value sum = ops::sum_and_count(step.graph(), step.losses);
  step.program.outputs = {sum, ops::sum_and_count(step.graph(), step.accuracy())};
  step.gradient();
  step.fused();
  ASSERT_NE(step.measured(), nullptr);
  EXPECT_EQ(step.measured()->attributes(), "gradient=true adds=false ranks_logits=false metrics=[1]");
}

TEST(FuseMetrics, MetricsMayRankLogits) {
  Step step;
  step.loss();
  step.add_mean(step.losses);
  for (const std::int64_t k : {1, 2}) {
    step.add_mean(ops::top_k_matches(step.graph(), step.logits, step.labels, k));
  }
  step.fused();
  ASSERT_NE(step.measured(), nullptr);
  EXPECT_EQ(step.measured()->attributes(), "gradient=false adds=true ranks_logits=true metrics=[1, 2]");
}

TEST(FuseMetrics, LabelsMayBeAColumn) {
  Step step({{4, 1}, Dtype::i64});
  const Value column = step.labels;
  step.labels = ops::reshape(step.graph(), column, {4});
  step.loss();
  step.add_mean(step.losses);
  step.labels = ops::reshape(step.graph(), column, {4});
  step.add_mean(step.accuracy());
  step.fused();
  ASSERT_NE(step.measured(), nullptr);
  EXPECT_EQ(step.measured()->options.metrics.size(), 1U);
}

TEST(FuseMetrics, LeavesADeviceAloneThatGainsNothing) {
  Step step;
  step.whole();
  is_left(step.fused([](const DeviceId&, const Op&, TensorTypes) { return false; }));
}

TEST(FuseMetrics, LeavesLossesThatOthersRead) {
  Step step;
  step.loss();
  step.add_mean(step.losses);
  step.program.outputs = {ops::neg(step.graph(), step.losses)};
  is_left(step.fused());
  Step weighted;
  weighted.loss();
  weighted.add_mean(ops::mul(weighted.graph(), weighted.losses, weighted.graph().input({{4}, Dtype::f32}, "weights")));
  is_left(weighted.fused());
}

TEST(FuseMetrics, LeavesMetricsOfOtherLabels) {
  Step step;
  step.loss();
  step.add_mean(step.losses);
  const Value others = step.graph().input({{4}, Dtype::i64}, "others");
  step.add_mean(ops::top_k_matches(step.graph(), step.logits, others));
  EXPECT_THAT(step.fused(), Contains("top_k_matches"));
  ASSERT_NE(step.measured(), nullptr);
  EXPECT_TRUE(step.measured()->options.metrics.empty());
}

TEST(FuseMetrics, LeavesMatchesThatOthersRead) {
  Step step;
  step.loss();
  step.add_mean(step.losses);
  const Value matches = ops::top_k_matches(step.graph(), step.logits, step.labels);
  step.add_mean(matches);
  step.program.outputs = {matches};
  EXPECT_THAT(step.fused(), Contains("top_k_matches"));
}

TEST(FuseMetrics, LeavesSumsOfAnotherKind) {
  Step step;
  step.loss();
  step.add_mean(step.losses);
  const Value matches = ops::top_k_matches(step.graph(), step.logits, step.labels);
  step.program.outputs = {ops::sum_and_count(step.graph(), matches)};
  EXPECT_THAT(step.fused(), Contains("top_k_matches"));
}

TEST(FuseMetrics, LeavesASecondMeanInOneState) {
  Step step;
  step.loss();
  step.add_mean(step.losses);
  ops::accumulate_mean(step.graph(), step.graph().variable(step.states[0]), step.accuracy());
  EXPECT_THAT(step.fused(), Contains("top_k_matches"));
}

TEST(FuseMetrics, LeavesAGradientOfOtherLabels) {
  Step step;
  step.loss();
  step.add_mean(step.losses);
  const Value others = step.graph().input({{4}, Dtype::i64}, "others");
  const Value slopes = step.graph().input({{4}, Dtype::f32}, "slopes");
  step.program.outputs = {step.graph().apply(std::make_shared<const SparseSoftmaxCrossEntropyGradient>(),
                                             {slopes, step.probabilities, others})};
  EXPECT_THAT(step.fused(), Contains("sparse_softmax_cross_entropy_gradient"));
}

// The parts move to the last one.
TEST(FuseMetrics, LeavesWhatIsReadOrChangedInBetween) {
  Step read;
  read.loss();
  read.add_mean(read.losses);
  read.program.outputs = {ops::neg(read.graph(), read.probabilities)};
  read.gradient();
  is_left(read.fused());

  Step changed;
  changed.loss();
  changed.add_mean(changed.losses);
  const Value counter = changed.graph().variable(changed.state());
  ops::assign_add(changed.graph(), counter, counter);
  changed.gradient();
  is_left(changed.fused());

  Step mean_read;
  mean_read.loss();
  mean_read.add_mean(mean_read.losses);
  mean_read.program.outputs = {ops::neg(mean_read.graph(), mean_read.graph().variable(mean_read.states[0]))};
  mean_read.gradient();
  is_left(mean_read.fused());
}

TEST(FuseMetrics, SharesNoMetricBetweenTwoLosses) {
  Step step;
  for (int i = 0; i < 2; ++i) {
    step.loss();
    step.program.outputs.push_back(ops::sum_and_count(step.graph(), step.losses));
  }
  const Value matches = ops::top_k_matches(step.graph(), step.logits, step.labels);
  step.program.outputs.push_back(ops::sum_and_count(step.graph(), matches));
  const auto names = step.fused();
  EXPECT_EQ(std::ranges::count(names, "measured_cross_entropy"), 2);
  EXPECT_THAT(names, Not(Contains("top_k_matches")));
}

TEST(FuseMetrics, CanBeSwitchedOff) {
  for (const bool on : {true, false}) {
    Step step;
    step.whole();
    PassOptions options;
    if (!on) options.disabled.insert("fuse_metrics");
    const auto names = op_names(apply_passes(std::move(step.program), options, {.fuses = &fuses_all}).graph);
    EXPECT_EQ(std::ranges::count(names, "measured_cross_entropy"), on ? 1 : 0);
  }
}

}  // namespace
}  // namespace gpubench
