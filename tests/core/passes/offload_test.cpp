#include <array>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/graph/gradients.h"
#include "core/ops/elementwise.h"
#include "core/ops/matmul.h"
#include "core/ops/reduce.h"
#include "core/ops/shape_ops.h"
#include "core/passes/pass.h"
#include "core/passes/rewriter.h"
#include "tests/core/passes/equal_results.h"

namespace gpubench {
namespace {

using ::testing::ElementsAre;

bool overlaps_all(const DeviceId&) {
  return true;
}
bool overlaps_none(const DeviceId&) {
  return false;
}

/// mean(tanh(... tanh(x w) ...)) through `layers` layers "dense_1", ..., and its gradients by the weights.
struct Layers {
  explicit Layers(int layers, bool reshaped = false) {
    Graph& graph = program.graph;
    Value y = graph.input({{8, 6}, Dtype::f32}, "x");
    std::vector<Value> weights;
    for (int layer = 0; layer < layers; ++layer) weights.push_back(graph.input({{6, 6}, Dtype::f32}, "w"));
    for (int layer = 0; layer < layers; ++layer) {
      owners.push_back(make_owner("dense_" + std::to_string(layer + 1)));
      const GraphScope scope(graph, {}, owners.back());
      y = ops::tanh(graph, ops::matmul(graph, y, weights[static_cast<std::size_t>(layer)]));
      if (reshaped) y = ops::reshape(graph, ops::reshape(graph, y, {48}), {8, 6});
    }
    const GraphScope scope(graph, {}, make_owner("loss"));
    program.outputs = gradients(graph, ops::reduce_mean(graph, y), weights);
    program = remove_dead_code(std::move(program));
  }
  /// `chosen`: numbers of layers.
  Program offloaded(const std::vector<std::size_t>& chosen, int ahead = OffloadOptions{}.ahead,
                    const std::function<bool(const DeviceId&)>& overlaps = &overlaps_all) {
    OffloadOptions options{.ahead = ahead};
    for (const std::size_t layer : chosen) options.layers.push_back(owners[layer - 1]);
    return offload(std::move(program), options, overlaps);
  }
  Program program;
  std::vector<OwnerPtr> owners;
};

/// The copies and what stands beside them: "store dense_1", "tanh dense_2", ...
std::vector<std::string> steps(const Program& program, std::string_view beside) {
  std::vector<std::string> found;
  for (const Node& node : program.graph.nodes()) {
    const std::string_view op = node.op->name();
    const bool copy = op == "store" || op == "store_end" || op == "fetch" || op == "fetch_end";
    if (copy || (op == beside && node.label.starts_with("dense"))) found.push_back(std::string(op) + " " + node.label);
  }
  return found;
}

TEST(OffloadTest, CopiesRunUnderOneLayerAndComeBackUnderAnother) {
  const Program program = Layers(4).offloaded({1});
  EXPECT_THAT(steps(program, "matmul"),
              ElementsAre("matmul dense_1", "store dense_1", "matmul dense_2", "store_end dense_1", "matmul dense_3",
                          "matmul dense_4", "matmul dense_4/gradient", "matmul dense_4/gradient", "fetch dense_1",
                          "matmul dense_3/gradient", "matmul dense_3/gradient", "matmul dense_2/gradient",
                          "fetch_end dense_1", "matmul dense_2/gradient", "matmul dense_1/gradient"));
}

TEST(OffloadTest, WithoutOverlapKernelsWaitForEveryCopy) {
  const std::vector<std::string> apart = {
      "matmul dense_1",          "store dense_1",           "store_end dense_1",       "matmul dense_2",
      "matmul dense_3",          "matmul dense_4",          "matmul dense_4/gradient", "matmul dense_4/gradient",
      "matmul dense_3/gradient", "matmul dense_3/gradient", "matmul dense_2/gradient", "fetch dense_1",
      "fetch_end dense_1",       "matmul dense_2/gradient", "matmul dense_1/gradient"};
  EXPECT_EQ(steps(Layers(4).offloaded({1}, 0), "matmul"), apart);
  EXPECT_EQ(steps(Layers(4).offloaded({1}, 3, &overlaps_none), "matmul"), apart);
}

TEST(OffloadTest, FurtherAheadTakesMoreLayers) {
  const Program program = Layers(6).offloaded({1}, 2);
  const std::vector<std::string> all = steps(program, "tanh");
  const auto place = [&](std::string_view step) { return std::ranges::find(all, step) - all.begin(); };
  EXPECT_GT(place("store_end dense_1"), place("tanh dense_2"));
  EXPECT_LT(place("store_end dense_1"), place("tanh dense_4"));
  const std::vector<std::string> back = steps(program, "matmul");
  const auto in_gradients = [&](std::string_view step) { return std::ranges::find(back, step) - back.begin(); };
  EXPECT_LT(in_gradients("fetch dense_1"), in_gradients("matmul dense_4/gradient"));
  EXPECT_GT(in_gradients("fetch dense_1"), in_gradients("matmul dense_5/gradient"));
}

TEST(OffloadTest, KeepsWhatNothingGainsBy) {
  // The last layer's is read again as soon as it is there.
  EXPECT_EQ(op_names(Layers(3).offloaded({3}).graph), op_names(Layers(3).program.graph));
  EXPECT_EQ(op_names(Layers(3).offloaded({}).graph), op_names(Layers(3).program.graph));
  Layers wanted(4);
  for (std::int32_t index = 0; const Node& node : wanted.program.graph.nodes()) {
    if (node.op->name() == "tanh" && node.label == "dense_1") wanted.program.outputs.push_back({index, 0});
    ++index;
  }
  const Program whole = wanted.program;
  EXPECT_EQ(op_names(wanted.offloaded({1}).graph), op_names(whole.graph)) << "an output stays";
}

TEST(OffloadTest, ViewsComeBackWithTheirTensor) {
  const Program program = Layers(5, true).offloaded({1, 2});
  for (const Node& node : program.graph.nodes()) {
    if (node.role != Role::gradient) continue;
    for (Value input : node.inputs) {
      while (program.graph.node(input).op->name() == "reshape") input = program.graph.node(input).inputs[0];
      const Node& read = program.graph.node(input);
      const bool stayed = read.op->name() == "tanh" && (read.label == "dense_1" || read.label == "dense_2");
      EXPECT_FALSE(stayed) << node.op->name() << " of " << node.label << " reads what has gone";
    }
  }
}

}  // namespace
}  // namespace gpubench
