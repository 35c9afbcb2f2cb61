// The activation functions that layers accept by name, as Keras names them.
#pragma once
#include <string>
#include <string_view>

#include "core/graph/graph.h"
#include "core/nn/dtype_policy.h"

namespace gpubench {

/// Throws Error listing the names: linear, relu, sigmoid, tanh, gelu, gelu_tanh, softmax (and "" for linear).
void check_activation(std::string_view owner, std::string_view name);
/// What apply_activation gives: float32 for softmax under a mixed policy, else the type that the policy computes in.
Dtype activated_dtype(std::string_view name, const DtypePolicy& policy);
/// `x` itself for "linear" and "". Under a mixed policy softmax is computed and handed on in float32, which Keras
/// advises and leaves to the script: probabilities near 0 and 1 are what a loss lives on, and 16 bits have none of
/// them.
Value apply_activation(Graph& graph, std::string_view name, Value x, const DtypePolicy& policy);

}  // namespace gpubench
