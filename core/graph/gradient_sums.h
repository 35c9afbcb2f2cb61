// Gradients of several losses, one after the other, that add up in memory of one: how a batch is trained on in parts.
#pragma once
#include <span>
#include <vector>

#include "core/graph/graph.h"

namespace gpubench {

/// gradients() of `loss`, each added to its sum so far where there is one (none: the gradient itself; a sum that the
/// loss does not depend on: the sum). A gradient is added as soon as it is known, so that it need not be kept until the
/// others are. `with_respect_to` are values that no other of them depends on: variables, inputs. One sum for each.
std::vector<Value> add_gradients(Graph& graph, Value loss, std::span<const Value> with_respect_to,
                                 std::span<const Value> sums);

}  // namespace gpubench
