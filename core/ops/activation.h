// The non-linearities that matmul and convolution kernels can apply to their own result, and their derivatives.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>

#include "core/graph/graph.h"

namespace gpubench {

enum class Activation : std::uint8_t { none, relu, sigmoid, tanh, gelu, gelu_tanh };

/// "none", "relu", "sigmoid", "tanh", "gelu", "gelu_tanh".
std::string_view to_string(Activation activation);

/// The gradient before `activation`, from y after it and its gradient dy. Where the derivative
/// needs the argument (gelu), that is computed again by `linear`, the op without the activation, from `inputs`.
Value undo_activation(Graph& graph, Activation activation, const OpPtr& linear, std::span<const Value> inputs, Value y,
                      Value dy);

namespace ops {

/// Whether the derivative needs the argument: the others are told by the result alone.
bool needs_argument(Activation activation);
/// d loss / d x of y = activation(x) from what a fused kernel leaves: its output. Throws Error where the derivative
/// needs x.
Value activation_gradient(Graph& graph, Activation activation, Value dy, Value y);

}  // namespace ops
}  // namespace gpubench
