// A directed acyclic graph of ops, connected by values. Nodes are in topological order by construction and behave as if
// they ran in that order: nodes after an in-place update of a variable see it, nodes before do not.
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

/// The purpose of a node for its owner.
enum class Role : std::uint8_t {
  forward,
  gradient,
  recomputed,  ///< second copy of a forward node, read by gradients
  update,      ///< of the state that a training step changes: weights, optimizer state, loss scale
};

/// "gradient".
std::string_view to_string(Role role);

/// Where a node runs and to what it belongs.
struct Origin {
  DeviceId device{};
  std::string label{};       ///< for messages and traces only: "conv2d_1", "conv2d_1/gradient"
  OwnerPtr owner = nullptr;  ///< none for an input, a constant, or an op outside of models
  Role role = Role::forward;
};

struct Node : Origin {
  OpPtr op;
  std::vector<Value> inputs;
  std::vector<TensorType> outputs;
};

/// The node's op as an O; nullptr if it is another op.
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
  /// Adds an input; its index is the number of earlier inputs.
  Value input(TensorType type, std::string label);
  /// The variable's node, created at the first call.
  Value variable(const VariablePtr& variable);
  Value constant(HostTensor value);
  /// A float32 scalar.
  Value constant(float value);

  /// Adds a node with the current origin, labelled with the op's name if the origin has no label. Throws as Op::infer
  /// does. Returns the first output; the others are Value{node, 1}, ...
  Value apply(OpPtr op, Values inputs);
  Value apply(OpPtr op, std::initializer_list<Value> inputs) {
    return apply(std::move(op), Values(inputs.begin(), inputs.size()));
  }

  /// Adds an existing node, including leaf ops; passes copy nodes this way. Its inputs must be values of this graph;
  /// each InputOp must be adopted in the order of its index.
  Value adopt(Node node);

  const std::vector<Node>& nodes() const { return nodes_; }
  const Node& node(Value value) const { return nodes_[static_cast<std::size_t>(value.node)]; }
  const TensorType& type(Value value) const { return node(value).outputs[static_cast<std::size_t>(value.output)]; }
  /// The input nodes by index.
  const std::vector<Value>& inputs() const { return inputs_; }
  /// All variables of the graph, in order of first use.
  const std::vector<VariablePtr>& variables() const { return variables_; }

  /// The origin of nodes that are added next.
  const Origin& origin() const { return origin_; }
  /// Returns the earlier origin.
  Origin set_origin(Origin origin);
  const DeviceId& device() const { return origin_.device; }
  /// An int64 scalar that differs from run to run: random ops of functions that are traced into the graph draw anew by
  /// it. None until it is set.
  Value step() const { return step_; }
  void set_step(Value step) { step_ = step; }
  /// Returns the earlier device.
  DeviceId set_device(DeviceId device);

 private:
  Value add(Node node);

  std::vector<Node> nodes_;
  std::vector<Value> inputs_;
  std::vector<VariablePtr> variables_;
  std::vector<Value> variable_values_;
  Origin origin_;
  Value step_;
};

/// Sets a graph's origin and restores the earlier one at the end of a scope.
class GraphScope {
 public:
  /// Sets this origin; pass an existing node to add nodes of the same origin.
  GraphScope(Graph& graph, const Origin& origin) : graph_(graph), before_(graph.set_origin(origin)) {}
  /// Sets `owner`, with its name as label.
  GraphScope(Graph& graph, DeviceId device, const OwnerPtr& owner, Role role = Role::forward)
      : GraphScope(graph, Origin{std::move(device), owner->name, owner, role}) {}
  /// Sets another device and label, with the current owner and role.
  GraphScope(Graph& graph, DeviceId device, std::string label)
      : GraphScope(graph, Origin{std::move(device), std::move(label), graph.origin().owner, graph.origin().role}) {}
  /// Appends "/name" to the label (or sets it if empty).
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
