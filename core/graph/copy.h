// Copies of graphs: into a larger graph, or for another replica.
#pragma once
#include <functional>
#include <span>
#include <vector>

#include "core/graph/graph.h"

namespace gpubench {

/// Decides about one node while a graph is copied. `copy` may be changed; its inputs are values of the new graph
/// already. The returned value stands for the node's outputs from this one on; none: the node is copied.
using CopyRule = std::function<Value(Node& copy, const Node& node)>;

/// Copies the nodes of `from` into `into`, in order. Types are inferred anew, since a rule may put other inputs in
/// place; variables are shared. Returns the value of `into` that stands for each node's first output.
std::vector<Value> copy_nodes(const Graph& from, Graph& into, const CopyRule& rule = {});
/// What stands for `old` in the graph that copy_nodes() has copied into.
Value copy_of(std::span<const Value> copies, Value old);

/// Copies a function's graph into a larger one, with `inputs` in place of its inputs, and returns what stands for
/// `outputs`. Nodes keep their devices, labels and owners; nodes without an owner get the current one of `into`.
std::vector<Value> splice(Graph& into, const Graph& from, std::span<const Value> inputs,
                          std::span<const Value> outputs);

/// The graph of one replica, made into that of another: on the device `to`, with variables of its own, which `own`
/// gives. Nodes keep their numbers. Throws Error for a node that is not on `from`, naming it: a replica has one device.
Graph copy_for_replica(const Graph& graph, const DeviceId& from, const DeviceId& to,
                       const std::function<VariablePtr(const VariablePtr&)>& own);

}  // namespace gpubench
