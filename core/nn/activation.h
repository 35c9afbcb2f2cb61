// The activation functions of layers, under their Keras names.
#pragma once
#include <string>
#include <string_view>

#include "core/graph/graph.h"
#include "core/nn/dtype_policy.h"

namespace gpubench {

/// Throws Error listing the names; "" is linear.
void check_activation(std::string_view owner, std::string_view name);
/// Type of apply_activation's result: float32 for softmax and log_softmax under a mixed policy, else the policy's type
/// of computation.
Dtype activated_dtype(std::string_view name, const DtypePolicy& policy);
/// Returns `x` itself for "linear" and "". Under a mixed policy softmax is computed and returned in float32, which
/// Keras recommends but leaves to the script: 16 bits cannot represent the probabilities near 0 and 1 that a loss
/// needs.
Value apply_activation(Graph& graph, std::string_view name, Value x, const DtypePolicy& policy);

}  // namespace gpubench
