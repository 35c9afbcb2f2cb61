// The derivative of the activation that matmul and convolution apply to their own result.
#pragma once
#include <span>

#include "core/graph/graph.h"
#include "core/ops/activation.h"

namespace gpubench {

/// The gradient before `activation`, from y after it and its gradient dy. Where the derivative
/// needs the argument (gelu), that is computed again by `linear`, the op without the activation, from `inputs`.
Value undo_activation(Graph& graph, Activation activation, const OpPtr& linear, std::span<const Value> inputs, Value y,
                      Value dy);

}  // namespace gpubench
