// Exchanges between the replicas of a model in a training step: sums of gradients, means of variables that layers
// update themselves (moving statistics of batch normalization), and sums for loss and metrics.
#pragma once
#include <optional>
#include <span>
#include <vector>

#include "core/exec/replicas.h"
#include "core/graph/graph.h"

namespace gpubench {

/// The origin for nodes that change `variable`.
Origin update_of(const Variable& variable);

/// The sum of each gradient over all replicas; none for missing gradients. Exchanges are added in the reverse order of
/// the variables, the order in which a backward pass computes their gradients. With `compression`, float32 gradients
/// are exchanged as that type.
std::vector<Value> exchange_gradients(Graph& graph, Values gradients, std::optional<Dtype> compression);

/// Floating-point variables in `candidates` that nodes of `graph` update (StateOp), except by optimizers.
std::vector<VariablePtr> updated_variables(const Graph& graph, std::span<const VariablePtr> candidates);

/// The means of the variables over all replicas, weighted by their shares of the examples.
std::vector<Value> exchange_variables(Graph& graph, std::span<const VariablePtr> variables, double weight);
void assign_variables(Graph& graph, std::span<const VariablePtr> variables, Values values);

/// A tensor filled with `value`, computed in every run: an exchange writes into its operands, so they cannot be
/// constants.
Value computed_filled(Graph& graph, const TensorType& type, float value);

/// The weight of a replica's own mean in the mean over all replicas.
double weight_of(const BatchShare& share);

}  // namespace gpubench
