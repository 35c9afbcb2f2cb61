// Copies one graph into another: how a traced function becomes part of a larger graph.
#pragma once
#include <span>
#include <vector>

#include "core/graph/graph.h"

namespace gpubench {

/// Adds all nodes of `from` to `into`, with `inputs` in place of its inputs, and returns what stands for `outputs`.
/// Variables are shared, nodes keep their devices and labels.
std::vector<Value> splice(Graph& into, const Graph& from, std::span<const Value> inputs,
                          std::span<const Value> outputs);

}  // namespace gpubench
