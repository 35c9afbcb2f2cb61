#include "core/graph/leaf_ops.h"

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/graph/graph.h"

namespace gpubench {

std::vector<Value> Transfer::gradient(Graph& graph, std::span<const Value> inputs, std::span<const Value>,
                                      std::span<const Value> output_gradients) const {
  const GraphScope scope(graph, graph.node(inputs[0]).device, graph.label());
  return {graph.apply(std::make_shared<const Transfer>(), {output_gradients[0]})};
}

std::vector<TensorType> AddN::infer(std::span<const TensorType> inputs) const {
  if (inputs.empty()) throw Error("add_n: needs at least one input");
  for (const TensorType& type : inputs) {
    if (type == inputs[0]) continue;
    throw Error(fmt::format("add_n: all inputs have one type, got {} and {}", to_string(inputs[0]), to_string(type)));
  }
  return {inputs[0]};
}

std::vector<Value> AddN::gradient(Graph&, std::span<const Value> inputs, std::span<const Value>,
                                  std::span<const Value> output_gradients) const {
  return std::vector<Value>(inputs.size(), output_gradients[0]);
}

double AddN::flops(std::span<const TensorType> inputs, std::span<const TensorType> outputs) const {
  return static_cast<double>(inputs.size() - 1) * static_cast<double>(outputs[0].elements());
}

}  // namespace gpubench
