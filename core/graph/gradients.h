// Reverse-mode differentiation over the node order: one backward walk over the nodes between the requested values and
// the loss; gradients from several paths are added by one node. New nodes have the owners of their forward nodes, and
// the role gradient.
#pragma once
#include <span>
#include <vector>

#include "core/graph/graph.h"

namespace gpubench {

/// Adds the gradient nodes of the scalar `loss` and returns d loss / d value for each of `with_respect_to`; none if the
/// loss does not depend on it. Throws Error if `loss` is not a floating scalar.
std::vector<Value> gradients(Graph& graph, Value loss, Values with_respect_to);

/// The same for one part of a batch (gradient accumulation): each gradient is added to its sum over the earlier parts
/// (none: the gradient itself) as soon as it is known, so that it need not be kept. No value of `with_respect_to` may
/// depend on another one: variables, inputs. There is one sum for each; a sum on which the loss does not depend stays
/// unchanged.
std::vector<Value> add_gradients(Graph& graph, Value loss, Values with_respect_to, Values sums);

}  // namespace gpubench
