#include "core/graph/copy.h"

#include <array>
#include <gmock/gmock.h>

#include "core/graph/gradients.h"
#include "core/graph/leaf_ops.h"
#include "tests/support/expect_error.h"

namespace gpubench {
namespace {

using ::testing::HasSubstr;

TEST(Splice, PutsAGraphInPlaceOfItsInputs) {
  const TensorType type{{2}, Dtype::f32};
  const auto variable = std::make_shared<const Variable>(Variable{0, "w", type, {}, true});
  Graph part;
  const Value a = part.input(type, "a");
  const Value w = part.variable(variable);
  const DeviceId second{DeviceId::Kind::cpu, 1, ""};
  Value sum;
  {
    const GraphScope scope(part, second, "inner");
    sum = part.apply(std::make_shared<const AddN>(), {a, w, a});
  }

  Graph whole;
  const Value own = whole.variable(variable);
  const Value x = whole.input(type, "x");
  const std::array inputs{x};
  const std::array outputs{sum, a};
  const std::vector<Value> results = splice(whole, part, inputs, outputs);
  ASSERT_EQ(results.size(), 2U);
  EXPECT_EQ(results[1], x);
  const Node& node = whole.node(results[0]);
  EXPECT_EQ(node.inputs, (std::vector<Value>{x, own, x}));
  EXPECT_EQ(node.device, second);
  EXPECT_EQ(node.label, "inner");
  EXPECT_EQ(whole.variables().size(), 1U);
}

TEST(Splice, NodesWithoutAnOwnerGetTheCurrentOne) {
  const TensorType type{{2}, Dtype::f32};
  const OwnerPtr layer = make_owner("a/gradient"), loss = make_owner("loss");
  Graph part;
  const Value a = part.input(type, "a");
  Value own;
  {
    const GraphScope scope(part, {}, layer);
    own = part.apply(std::make_shared<const AddN>(), {a, a});
  }
  const Value plain = part.apply(std::make_shared<const AddN>(), {own, a});
  Graph whole;
  const std::array inputs{whole.input(type, "x")};
  const GraphScope scope(whole, {}, loss, Role::update);
  const std::vector<Value> results = splice(whole, part, inputs, std::array{own, plain});
  EXPECT_EQ(whole.node(results[0]).owner, layer);
  EXPECT_EQ(whole.node(results[0]).role, Role::update);
  EXPECT_EQ(whole.node(results[1]).owner, loss);
  EXPECT_EQ(whole.node(results[1]).label, "add_n");
}

TEST(CopyNodes, ARulePutsValuesInPlaceOfNodes) {
  const TensorType type{{2}, Dtype::f32}, longer{{3}, Dtype::f32};
  Graph from;
  const Value a = from.input(type, "a");
  const Value sum = from.apply(std::make_shared<const AddN>(), {a, a});
  Graph into;
  const Value x = into.input(longer, "x");
  const std::vector<Value> copies =
      copy_nodes(from, into, [&](Node&, const Node& node) { return op_as<InputOp>(node) != nullptr ? x : Value{}; });
  EXPECT_EQ(copy_of(copies, a), x);
  EXPECT_EQ(into.type(copy_of(copies, sum)), longer) << "types are inferred anew";
}

TEST(CopyForReplica, MovesAllNodesAndRefusesOtherDevices) {
  const TensorType type{{2}, Dtype::f32};
  const DeviceId first{}, second{DeviceId::Kind::cpu, 1, ""};
  const auto variable = std::make_shared<const Variable>(Variable{0, "w", type, first, true});
  const auto mirror = std::make_shared<const Variable>(Variable{0, "w", type, second, true});
  Graph graph;
  const Value x = graph.input(type, "x"), w = graph.variable(variable);
  const Value sum = graph.apply(std::make_shared<const AddN>(), {x, w});
  const Graph copy = copy_for_replica(graph, first, second, [&](const VariablePtr&) { return mirror; });
  EXPECT_EQ(copy.node(sum).device, second);
  EXPECT_EQ(copy.node(sum).inputs, graph.node(sum).inputs);
  EXPECT_EQ(copy.variables(), std::vector<VariablePtr>{mirror});
  EXPECT_ERROR(HasSubstr("a replica has one device: 'x' is on cpu:0"),
               copy_for_replica(graph, second, first, [&](const VariablePtr&) { return mirror; }));
}

TEST(Gradients, BelongToTheOwnersOfTheForwardNodes) {
  const TensorType scalar{{}, Dtype::f32};
  const OwnerPtr layer = make_owner("x"), head = make_owner("x/gradient_head");
  Graph graph;
  const Value x = graph.input(scalar, "in");
  Value y, loss;
  {
    const GraphScope scope(graph, {}, layer);
    y = graph.apply(std::make_shared<const AddN>(), {x, x});
  }
  {
    const GraphScope scope(graph, {}, head);
    loss = graph.apply(std::make_shared<const AddN>(), {y, y});
  }
  const std::vector<Value> slopes = gradients(graph, loss, std::array{x});
  EXPECT_EQ(graph.node(loss).role, Role::forward);
  const Node& sum = graph.node(graph.node(slopes[0]).inputs[0]);  // of the two paths to y
  EXPECT_EQ(sum.owner, layer);
  EXPECT_EQ(sum.role, Role::gradient);
  EXPECT_EQ(sum.label, "x/gradient");
}

}  // namespace
}  // namespace gpubench
