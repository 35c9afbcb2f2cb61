// An ElementFunction that runs a graph: what a traced function becomes. Each runner plans the graph for itself on a CPU
// device of one thread, so that pipeline workers neither share state with the training step nor fork teams; it computes
// blocks of elements where every op has a form for them, and writes results where the consumer wants them.
#pragma once
#include <memory>
#include <vector>

#include "core/data/device/device_place.h"
#include "core/data/function/element_function.h"
#include "core/graph/graph.h"
#include "core/passes/pass.h"

namespace gpubench {

/// A function traced for certain types: the graph's inputs are the element's tensors.
struct TracedElement {
  Graph graph;
  std::vector<Value> outputs;
  /// Extents of tensors that the function has looked at, in order.
  std::vector<std::int64_t> extents_read{};
};

/// For elements of fixed types. Random ops whose step is the constant 0, as it is when none is given, draw by the
/// element's number. Throws Error when the graph reads variables: they belong to the training step.
std::shared_ptr<const ElementFunction> graph_function(TracedElement trace);
/// For elements with varying extents, from traces with two different guesses at them. Throws Error when the function
/// did not do the same both times or read other extents, since then it cannot be right for other extents.
std::shared_ptr<const ElementFunction> graph_function(TracedElement trace, const TracedElement& other);

/// The same function on the place's device, in the order of its kernels; a device that works in host memory takes its
/// whole team. Throws Error when there is no such device, and for functions that are no graphs.
std::shared_ptr<const ElementFunction> placed(const ElementFunction& function, const DevicePlace& place);
/// What a placed function runs for inputs of these types. Its last input is the element's number, int64[].
Program program_of(const ElementFunction& function, std::span<const TensorType> inputs);

/// `second` of what `first` gives, as one graph, so that element-wise ops of both are fused; nullptr where one of them
/// is no graph.
std::shared_ptr<const ElementFunction> compose(const ElementFunction& first, const ElementFunction& second);

}  // namespace gpubench
