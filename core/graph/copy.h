// Copies graphs: into a larger graph, or for another replica.
#pragma once
#include <functional>
#include <span>
#include <vector>

#include "core/graph/graph.h"

namespace gpubench {

/// Decides about one node while a graph is copied. The rule may change `copy`, whose inputs are already values of the
/// new graph. A returned value replaces the node's outputs from this one on; none: the node is copied.
using CopyRule = std::function<Value(Node& copy, const Node& node)>;

/// Copies the nodes of `from` into `into`, in order. Types are inferred again, because a rule may replace inputs;
/// variables are shared. Returns for each node the value of `into` that replaces its first output.
std::vector<Value> copy_nodes(const Graph& from, Graph& into, const CopyRule& rule = {});
/// The value that replaces `old` in the graph into which copy_nodes() has copied.
Value copy_of(Values copies, Value old);

/// Copies a function's graph into a larger one, with `inputs` in place of its inputs, and returns the copies of
/// `outputs`. Nodes keep their devices, labels and owners; nodes without an owner get the current one of `into`.
std::vector<Value> splice(Graph& into, const Graph& from, Values inputs, Values outputs);

/// Copies one replica's graph for another replica: on the device `to`, with its own variables, which `own` returns.
/// Nodes keep their numbers. Throws Error naming a node that is not on `from`, because a replica has one device.
Graph copy_for_replica(const Graph& graph, const DeviceId& from, const DeviceId& to,
                       const std::function<VariablePtr(const VariablePtr&)>& own);

}  // namespace gpubench
