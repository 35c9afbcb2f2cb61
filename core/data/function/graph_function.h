// An ElementFunction that runs a traced graph. Each runner plans the graph on its own single-threaded CPU device, so
// that pipeline workers neither share state with the training step nor fork thread teams. It computes blocks of
// elements if every op has a block form, and writes results directly into the consumer's memory.
#pragma once
#include <memory>
#include <vector>

#include "core/data/device/device_place.h"
#include "core/data/function/element_function.h"
#include "core/graph/graph.h"
#include "core/passes/pass.h"

namespace gpubench {

/// A function traced for given types: the graph's inputs are the element's tensors.
struct TracedElement {
  Graph graph;
  std::vector<Value> outputs;
  /// Extents of tensors that the function has read, in order.
  std::vector<std::int64_t> extents_read{};
};

/// For elements of fixed types. Random ops whose step is the constant 0 (the default) draw by the element's number.
/// Throws Error if the graph reads variables, which belong to the training step.
std::shared_ptr<const ElementFunction> graph_function(TracedElement trace);
/// For elements with varying extents, from traces with two different trial extents. Throws Error if the two traces
/// differ in what they do or read other extents, because then the function cannot be correct for all extents.
std::shared_ptr<const ElementFunction> graph_function(TracedElement trace, const TracedElement& other);

/// The same function on the place's device, in order with its kernels; a device that works in host memory uses its
/// whole team. Throws Error if the device does not exist, and for functions that are no graphs.
std::shared_ptr<const ElementFunction> placed(const ElementFunction& function, const DevicePlace& place);
/// The program that a placed function runs for inputs of these types. Its last input is the element's number, int64[].
Program program_of(const ElementFunction& function, TensorTypes inputs);

/// `second` applied to the results of `first`, as one graph, so that element-wise ops of both are fused; nullptr if one
/// of them is no graph.
std::shared_ptr<const ElementFunction> compose(const ElementFunction& first, const ElementFunction& second);

}  // namespace gpubench
