#include "core/graph/leaf_ops.h"

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/graph/graph.h"

namespace gpubench {

std::vector<Value> Transfer::gradient(Graph& graph, Values inputs, Values, Values output_gradients) const {
  const GraphScope scope(graph, graph.node(inputs[0]).device, graph.origin().label);
  return {graph.apply(std::make_shared<const Transfer>(), {output_gradients[0]})};
}

std::string BatchPart::attributes() const {
  return fmt::format("index={} parts={}", index_, parts_);
}

std::vector<TensorType> BatchPart::infer(TensorTypes inputs) const {
  if (inputs.size() != 1 || inputs[0].shape.empty()) throw Error("batch_part: needs one input with a batch dimension");
  TensorType part = inputs[0];
  if (part.shape[0] % parts_ != 0) {
    throw Error(fmt::format("batch_part: {} cannot be cut into {} equal parts", to_string(inputs[0]), parts_));
  }
  part.shape[0] /= parts_;
  return {part};
}

std::size_t view_offset(const Op& op, const TensorType& output) {
  const auto* const part = dynamic_cast<const BatchPart*>(&op);
  return part == nullptr ? 0 : static_cast<std::size_t>(part->index()) * output.bytes();
}

std::vector<TensorType> AddN::infer(TensorTypes inputs) const {
  if (inputs.empty()) throw Error("add_n: needs at least one input");
  for (const TensorType& type : inputs) {
    if (type == inputs[0]) continue;
    throw Error(fmt::format("add_n: all inputs have one type, got {} and {}", to_string(inputs[0]), to_string(type)));
  }
  return {inputs[0]};
}

std::vector<Value> AddN::gradient(Graph&, Values inputs, Values, Values output_gradients) const {
  return std::vector<Value>(inputs.size(), output_gradients[0]);
}

double AddN::flops(TensorTypes inputs, TensorTypes outputs) const {
  return static_cast<double>(inputs.size() - 1) * static_cast<double>(outputs[0].elements());
}

}  // namespace gpubench
