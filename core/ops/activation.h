// The non-linearities that matmul and convolution kernels can apply to their own result.
#pragma once
#include <cstdint>
#include <string_view>

#include "core/graph/graph.h"

namespace gpubench {

enum class Activation : std::uint8_t { none, relu, sigmoid, tanh, gelu, gelu_tanh };

/// "none", "relu", "sigmoid", "tanh", "gelu", "gelu_tanh".
std::string_view to_string(Activation activation);
/// Accepts the names that to_string gives; throws Error listing them.
Activation parse_activation(std::string_view name);

namespace ops {

/// The op of that name; `x` itself for none.
Value activate(Graph& graph, Activation activation, Value x);
/// Whether the derivative needs the argument: the others are told by the result alone.
bool needs_argument(Activation activation);
/// d loss / d x of y = activation(x) from what a fused kernel leaves: its output. Throws Error where the derivative
/// needs x.
Value activation_gradient(Graph& graph, Activation activation, Value dy, Value y);

}  // namespace ops
}  // namespace gpubench
