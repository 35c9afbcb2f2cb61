// Ops joined by values: a directed acyclic graph whose nodes stand in a topological order by construction. Nodes run as
// if in that order; an in-place update of a variable is seen by the nodes after it, never by those before.
#pragma once
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/graph/op.h"
#include "core/graph/variable.h"
#include "core/tensor/device_id.h"
#include "core/tensor/host_tensor.h"

namespace gpubench {

struct Node {
  OpPtr op;
  std::vector<Value> inputs;
  std::vector<TensorType> outputs;
  DeviceId device;
  std::string label;  ///< where it comes from, for messages and traces: "conv2d_1", "conv2d_1/gradient"
};

/// The node's op as an O; nullptr when it is another.
template <class O>
const O* op_as(const Node& node) {
  return dynamic_cast<const O*>(node.op.get());
}

class Graph {
 public:
  /// The next input; its index is the number of inputs so far.
  Value input(TensorType type, std::string label);
  /// The variable's memory; one node per variable, made at the first call.
  Value variable(const VariablePtr& variable);
  Value constant(HostTensor value);
  /// A float32 scalar.
  Value constant(float value);

  /// Adds a node on the current device and under the current label; throws what Op::infer throws.
  /// Returns the first output; the others are Value{node, 1}, ...
  Value apply(OpPtr op, std::span<const Value> inputs);
  Value apply(OpPtr op, std::initializer_list<Value> inputs) {
    return apply(std::move(op), std::span<const Value>(inputs.begin(), inputs.size()));
  }

  /// Adds a node as it is, leaf ops included: how passes copy what they keep. Inputs are values of this graph; an
  /// InputOp must be adopted in the order of its index.
  Value adopt(Node node);

  const std::vector<Node>& nodes() const { return nodes_; }
  const Node& node(Value value) const { return nodes_[static_cast<std::size_t>(value.node)]; }
  const TensorType& type(Value value) const { return node(value).outputs[static_cast<std::size_t>(value.output)]; }
  /// The input nodes in order of their index.
  const std::vector<Value>& inputs() const { return inputs_; }
  /// Every variable the graph touches, in order of first use.
  const std::vector<VariablePtr>& variables() const { return variables_; }

  /// Replaces the device of the inputs, variables and ops added from now on. Returns the one before.
  DeviceId set_device(DeviceId device);
  const DeviceId& device() const { return device_; }
  /// Replaces the label of what is added from now on. Returns the one before.
  std::string set_label(std::string label);
  const std::string& label() const { return label_; }

 private:
  Value add(Node node);

  std::vector<Node> nodes_;
  std::vector<Value> inputs_;
  std::vector<VariablePtr> variables_;
  std::vector<Value> variable_values_;
  DeviceId device_;
  std::string label_;
};

/// Restores a graph's device and label at the end of a scope.
class GraphScope {
 public:
  GraphScope(Graph& graph, DeviceId device, std::string label)
      : graph_(graph), device_(graph.set_device(std::move(device))), label_(graph.set_label(std::move(label))) {}
  /// Appends "/name" to the label (or starts it) and keeps the device.
  GraphScope(Graph& graph, const std::string& name)
      : GraphScope(graph, graph.device(), graph.label().empty() ? name : graph.label() + "/" + name) {}
  ~GraphScope() {
    graph_.set_device(std::move(device_));
    graph_.set_label(std::move(label_));
  }
  GraphScope(const GraphScope&) = delete;
  GraphScope& operator=(const GraphScope&) = delete;

 private:
  Graph& graph_;
  DeviceId device_;
  std::string label_;
};

/// Reverse-mode differentiation: adds the gradient nodes of the scalar `loss` and returns d loss / d value for each of
/// `with_respect_to`; none where the loss does not depend on it. Throws Error when `loss` is not a floating scalar.
std::vector<Value> gradients(Graph& graph, Value loss, std::span<const Value> with_respect_to);

}  // namespace gpubench
