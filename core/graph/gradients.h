// Reverse-mode differentiation over the node order: the nodes between the wanted values and the loss are walked
// backwards once, and gradients that arrive over several paths are added by one node. The nodes that it adds belong to
// the owners of the forward nodes, in the role of gradients.
#pragma once
#include <span>
#include <vector>

#include "core/graph/graph.h"

namespace gpubench {

/// Adds the gradient nodes of the scalar `loss` and returns d loss / d value for each of `with_respect_to`; none where
/// the loss does not depend on it. Throws Error when `loss` is not a floating scalar.
std::vector<Value> gradients(Graph& graph, Value loss, std::span<const Value> with_respect_to);

/// The same for one part of a batch: each gradient is added to its sum over the parts before (none: the gradient
/// itself), as soon as it is known, so that it need not be kept until the others are. `with_respect_to` are values that
/// none of the others depends on: variables, inputs. One sum for each; a sum that the loss does not depend on stays.
std::vector<Value> add_gradients(Graph& graph, Value loss, std::span<const Value> with_respect_to,
                                 std::span<const Value> sums);

}  // namespace gpubench
