#include "core/graph/splice.h"

#include "core/graph/leaf_ops.h"

namespace gpubench {

std::vector<Value> splice(Graph& into, const Graph& from, std::span<const Value> inputs,
                          std::span<const Value> outputs) {
  std::vector<std::int32_t> moved;  // by node: its number in `into`
  std::vector<Value> input_values(from.nodes().size());
  const auto map = [&](Value value) {
    const auto at = static_cast<std::size_t>(value.node);
    return input_values[at] ? input_values[at] : Value{moved[at], value.output};
  };
  for (std::size_t i = 0; i < from.nodes().size(); ++i) {
    const Node& node = from.nodes()[i];
    const GraphScope scope(into, node.device, node.label);
    Value value;
    if (const auto* given = dynamic_cast<const InputOp*>(node.op.get())) {
      value = input_values[i] = inputs[static_cast<std::size_t>(given->index())];
    } else if (const auto* leaf = dynamic_cast<const VariableOp*>(node.op.get())) {
      value = into.variable(leaf->variable());
    } else if (const auto* fixed = dynamic_cast<const ConstantOp*>(node.op.get())) {
      value = into.constant(fixed->value());
    } else {
      std::vector<Value> arguments;
      for (const Value input : node.inputs) arguments.push_back(map(input));
      value = into.apply(node.op, arguments);
    }
    moved.push_back(value.node);
  }
  std::vector<Value> results;
  for (const Value output : outputs) results.push_back(map(output));
  return results;
}

}  // namespace gpubench
