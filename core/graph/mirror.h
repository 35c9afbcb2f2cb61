// The graph of one replica, made into that of another: on another device, with variables of its own.
#pragma once
#include <functional>

#include "core/graph/graph.h"

namespace gpubench {

/// `own` gives the variable that stands for one of the graph's; the nodes keep their numbers. Throws Error for a node
/// that is not on `from`, naming it: a replica has one device.
Graph mirrored(const Graph& graph, const DeviceId& from, const DeviceId& to,
               const std::function<VariablePtr(const VariablePtr&)>& own);

}  // namespace gpubench
