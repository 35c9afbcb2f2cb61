#include "core/graph/copy.h"

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/graph/leaf_ops.h"

namespace gpubench {

Value copy_of(Values copies, Value old) {
  const Value first = copies[static_cast<std::size_t>(old.node)];
  return {first.node, first.output + old.output};
}

std::vector<Value> copy_nodes(const Graph& from, Graph& into, const CopyRule& rule) {
  std::vector<Value> copies;
  for (const Node& node : from.nodes()) {
    Node copy = node;
    for (Value& input : copy.inputs) input = copy_of(copies, input);
    Value value = rule ? rule(copy, node) : Value{};
    if (!value) {
      std::vector<TensorType> types;
      for (const Value input : copy.inputs) types.push_back(into.type(input));
      copy.outputs = checked_outputs(*copy.op, types);
      value = into.adopt(std::move(copy));
    }
    copies.push_back(value);
  }
  return copies;
}

std::vector<Value> splice(Graph& into, const Graph& from, Values inputs, Values outputs) {
  const Origin current = into.origin();
  const std::vector<Value> copies = copy_nodes(from, into, [&](Node& copy, const Node& node) {
    if (const auto* const given = op_as<InputOp>(node)) return inputs[static_cast<std::size_t>(given->index())];
    if (copy.owner == nullptr && !copy.inputs.empty()) copy.owner = current.owner;
    if (copy.role == Role::forward) copy.role = current.role;
    return Value{};
  });
  std::vector<Value> results;
  for (const Value output : outputs) results.push_back(copy_of(copies, output));
  return results;
}

Graph copy_for_replica(const Graph& graph, const DeviceId& from, const DeviceId& to,
                       const std::function<VariablePtr(const VariablePtr&)>& own) {
  Graph replica;
  copy_nodes(graph, replica, [&](Node& copy, const Node& node) {
    if (node.device != from) {
      throw Error(
          fmt::format("a replica has one device: '{}' is on {}, and the strategy's first device is {}; make "
                      "everything in strategy:scope without gb.device",
                      node.label, to_string(node.device), to_string(from)));
    }
    copy.device = to;
    const auto* const variable = op_as<VariableOp>(node);
    return variable != nullptr ? replica.variable(own(variable->variable())) : Value{};
  });
  return replica;
}

}  // namespace gpubench
