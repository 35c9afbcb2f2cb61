// An ElementFunction that runs a graph: what a traced function becomes. Each runner plans the graph for itself on a CPU
// device of one thread, so that pipeline workers neither share state with the training step nor fork teams.
#pragma once
#include <memory>
#include <vector>

#include "core/data/element_function.h"
#include "core/graph/graph.h"

namespace gpubench {

/// A function traced for certain types: the graph's inputs are the element's tensors.
struct TracedElement {
  Graph graph;
  std::vector<Value> outputs;
};

/// For elements of fixed types. Throws Error when the graph reads variables: they belong to the training step.
std::shared_ptr<const ElementFunction> graph_function(TracedElement trace);
/// For elements with varying extents, from traces with two different guesses at them. Throws Error when the function
/// did not do the same both times, since then it cannot be right for other extents.
std::shared_ptr<const ElementFunction> graph_function(TracedElement trace, const TracedElement& other);

}  // namespace gpubench
