// The activations that matmul and convolution kernels can apply to their own result, and their derivatives.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>

#include "core/graph/graph.h"

namespace gpubench {

enum class Activation : std::uint8_t { none, relu, sigmoid, tanh, gelu, gelu_tanh };

/// "none", "relu", "sigmoid", "tanh", "gelu", "gelu_tanh".
std::string_view to_string(Activation activation);

/// The gradient before `activation`, from its result y and the gradient dy. If the derivative needs the argument
/// (gelu), `linear` (the op without the activation) recomputes it from `inputs`.
Value undo_activation(Graph& graph, Activation activation, const OpPtr& linear, Values inputs, Value y, Value dy);

namespace ops {

/// Whether the derivative needs the argument; otherwise the result is sufficient.
bool needs_argument(Activation activation);
/// d loss / d x of y = activation(x), from the output of a fused kernel. Throws Error if the derivative needs x.
Value activation_gradient(Graph& graph, Activation activation, Value dy, Value y);

}  // namespace ops
}  // namespace gpubench
