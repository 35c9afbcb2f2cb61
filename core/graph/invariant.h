// Finds values that are the same in every run: those of constants and of variables that no node of the graph updates.
// They are recomputed only after such a variable was written from outside.
#pragma once
#include <vector>

#include "core/graph/graph.h"

namespace gpubench {

/// By node: whether its outputs depend only on constants and on variables that the graph does not update. Nodes with an
/// effect and copies between devices are never invariant.
std::vector<bool> invariant_nodes(const Graph& graph);

}  // namespace gpubench
