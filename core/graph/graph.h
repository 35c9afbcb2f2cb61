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

/// What a node computes for its owner.
enum class Role : std::uint8_t {
  forward,
  gradient,
  recomputed,  ///< a second copy of a forward node, which gradients read
  update,      ///< of what a training step changes: weights, optimizer state, loss scale
};

/// Where a node runs and what it belongs to.
struct Origin {
  DeviceId device{};
  std::string label{};       ///< for messages and traces only: "conv2d_1", "conv2d_1/gradient"
  OwnerPtr owner = nullptr;  ///< none: an input, a constant, an op outside of models
  Role role = Role::forward;
};

struct Node : Origin {
  OpPtr op;
  std::vector<Value> inputs;
  std::vector<TensorType> outputs;
};

/// The node's op as an O; nullptr when it is another.
template <class O>
const O* op_as(const Node& node) {
  return dynamic_cast<const O*>(node.op.get());
}

/// Whether both nodes belong to the same owner in the same role.
inline bool same_part(const Origin& a, const Origin& b) {
  return a.owner == b.owner && a.role == b.role;
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

  /// Adds a node with the current origin, labelled with the op's name where that has no label. Throws what Op::infer
  /// throws.
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

  /// The origin of the nodes that are added from now on.
  const Origin& origin() const { return origin_; }
  /// Returns the one before.
  Origin set_origin(Origin origin);
  const DeviceId& device() const { return origin_.device; }
  /// Returns the one before.
  DeviceId set_device(DeviceId device);

 private:
  Value add(Node node);

  std::vector<Node> nodes_;
  std::vector<Value> inputs_;
  std::vector<VariablePtr> variables_;
  std::vector<Value> variable_values_;
  Origin origin_;
};

/// Restores a graph's origin at the end of a scope.
class GraphScope {
 public:
  /// Nodes of this origin; for an existing node, nodes like that one.
  GraphScope(Graph& graph, const Origin& origin) : graph_(graph), before_(graph.set_origin(origin)) {}
  /// Nodes of `owner`, labelled with its name.
  GraphScope(Graph& graph, DeviceId device, const OwnerPtr& owner, Role role = Role::forward)
      : GraphScope(graph, Origin{std::move(device), owner->name, owner, role}) {}
  /// Another device and label for the current owner.
  GraphScope(Graph& graph, DeviceId device, std::string label)
      : GraphScope(graph, Origin{std::move(device), std::move(label), graph.origin().owner, graph.origin().role}) {}
  /// Appends "/name" to the label (or starts it).
  GraphScope(Graph& graph, const std::string& name)
      : GraphScope(graph, graph.device(), graph.origin().label.empty() ? name : graph.origin().label + "/" + name) {}
  ~GraphScope() { graph_.set_origin(std::move(before_)); }
  GraphScope(const GraphScope&) = delete;
  GraphScope& operator=(const GraphScope&) = delete;

 private:
  Graph& graph_;
  Origin before_;
};

}  // namespace gpubench
