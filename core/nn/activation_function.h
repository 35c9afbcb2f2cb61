// The activation functions that layers accept by name, as Keras names them.
#pragma once
#include <string>
#include <string_view>

#include "core/graph/graph.h"

namespace gpubench {

/// Throws Error listing the names: linear, relu, sigmoid, tanh, gelu, gelu_tanh, softmax (and "" for linear).
void check_activation(std::string_view owner, std::string_view name);
/// `x` itself for "linear" and "".
Value apply_activation(Graph& graph, std::string_view name, Value x);

}  // namespace gpubench
