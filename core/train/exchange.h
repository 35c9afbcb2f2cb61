// Exchanges between the replicas of a model in a training step: sums of gradients, means of the variables that layers
// update themselves (the moving statistics of batch norm), and the sums behind loss and metrics.
#pragma once
#include <optional>
#include <span>
#include <vector>

#include "core/exec/replicas.h"
#include "core/graph/graph.h"

namespace gpubench {

/// Of nodes that change `variable`.
Origin update_of(const Variable& variable);

/// The sums over all replicas of each gradient, none where there is none. Adds the exchanges in the reverse order of
/// the variables, in which a backward pass makes their gradients. With `compression`, float32 gradients travel as that
/// type.
std::vector<Value> exchange_gradients(Graph& graph, std::span<const Value> gradients, std::optional<Dtype> compression);

/// Floating-point variables among `candidates` that nodes of `graph` set or move (StateOp), optimizers left aside.
std::vector<VariablePtr> updated_variables(const Graph& graph, std::span<const VariablePtr> candidates);

/// The means of the variables' values over all replicas, each weighted by its share of the examples.
std::vector<Value> exchange_variables(Graph& graph, std::span<const VariablePtr> variables, double weight);
void assign_variables(Graph& graph, std::span<const VariablePtr> variables, std::span<const Value> values);

/// A tensor of `value`, computed in every run: an exchange writes into its operands, and constants must not change.
Value computed_filled(Graph& graph, const TensorType& type, float value);

/// The share of a mean over all replicas that a replica's own value has.
double weight_of(const BatchShare& share);

}  // namespace gpubench
