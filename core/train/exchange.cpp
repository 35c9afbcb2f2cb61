#include "core/train/exchange.h"

#include <algorithm>

#include "core/graph/exchange_ops.h"
#include "core/graph/leaf_ops.h"
#include "core/ops/cast.h"
#include "core/ops/elementwise.h"
#include "core/ops/shape_ops.h"
#include "core/ops/state.h"

namespace gpubench {

Origin update_of(const Variable& variable) {
  return {variable.device, variable.name, variable.owner, Role::update};
}

std::vector<Value> exchange_gradients(Graph& graph, Values gradients, std::optional<Dtype> compression) {
  std::vector<Value> sums(gradients.size());
  for (std::size_t i = gradients.size(); i-- > 0;) {
    if (!gradients[i]) continue;
    const GraphScope scope(graph, graph.node(gradients[i]));
    const Dtype own = graph.type(gradients[i]).dtype;
    const Dtype sent = own == Dtype::f32 ? compression.value_or(own) : own;
    sums[i] = all_reduce_in_bucket(graph, ops::cast(graph, gradients[i], sent));
  }
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    if (!sums[i]) continue;
    const GraphScope scope(graph, graph.node(sums[i]));
    sums[i] = ops::cast(graph, sums[i], graph.type(gradients[i]).dtype);
  }
  return sums;
}

std::vector<VariablePtr> updated_variables(const Graph& graph, std::span<const VariablePtr> candidates) {
  std::vector<VariablePtr> updated;
  for (const Node& node : graph.nodes()) {
    if (op_as<StateOp>(node) == nullptr) continue;
    for (const Alias& alias : node.op->aliases()) {
      if (alias.kind != Alias::Kind::in_place) continue;
      const Node& memory = graph.node(node.inputs[static_cast<std::size_t>(alias.input)]);
      const auto* const op = op_as<VariableOp>(memory);
      if (op == nullptr || !is_floating(op->variable()->type.dtype)) continue;
      if (std::ranges::find(candidates, op->variable()) == candidates.end()) continue;
      if (std::ranges::find(updated, op->variable()) == updated.end()) updated.push_back(op->variable());
    }
  }
  return updated;
}

std::vector<Value> exchange_variables(Graph& graph, std::span<const VariablePtr> variables, double weight) {
  std::vector<Value> means;
  for (const VariablePtr& variable : variables) {
    const GraphScope scope(graph, update_of(*variable));
    const Value scale = ops::cast(graph, graph.constant(static_cast<float>(weight)), variable->type.dtype);
    const Value part =
        weight == 0 ? computed_filled(graph, variable->type, 0) : ops::mul(graph, graph.variable(variable), scale);
    means.push_back(all_reduce_in_bucket(graph, part));
  }
  return means;
}

void assign_variables(Graph& graph, std::span<const VariablePtr> variables, Values values) {
  for (std::size_t i = 0; i < variables.size(); ++i) {
    const GraphScope scope(graph, update_of(*variables[i]));
    ops::assign(graph, graph.variable(variables[i]), values[i]);
  }
}

Value computed_filled(Graph& graph, const TensorType& type, float value) {
  return ops::broadcast_to(graph, ops::cast(graph, graph.constant(value), type.dtype), type.shape);
}

double weight_of(const BatchShare& share) {
  return static_cast<double>(share.rows) / static_cast<double>(share.total);
}

}  // namespace gpubench
