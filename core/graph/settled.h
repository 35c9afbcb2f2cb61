// What does not change from run to run: values of constants and of variables that no node of the graph updates. They
// can be computed when such a variable has been written to, by whoever, instead of in every run.
#pragma once
#include <vector>

#include "core/graph/graph.h"

namespace gpubench {

/// By node: whether its outputs depend on nothing but constants and variables that the graph leaves alone. Nodes with
/// an effect and copies between devices are never settled.
std::vector<bool> settled_nodes(const Graph& graph);

}  // namespace gpubench
