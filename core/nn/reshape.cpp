#include "core/nn/reshape.h"

#include <algorithm>
#include <fmt/format.h>

#include "core/ops/shape_ops.h"

namespace gpubench::nn {

LayerKind Flatten::layer_kind() {
  return {"Flatten", {}, {}, &construct_layer<Flatten>};
}

TensorType Flatten::output_type(std::span<const TensorType> inputs) const {
  if (inputs.size() != 1) fail(fmt::format("takes one input, got {}", inputs.size()));
  return {{inputs[0].elements()}, inputs[0].dtype};
}

Value Flatten::apply(const CallContext& context, std::span<const Value> inputs) const {
  const Shape& shape = context.graph.type(inputs[0]).shape;
  if (shape.size() == 2) return inputs[0];
  return ops::reshape(context.graph, inputs[0], {shape[0], element_count(std::span(shape).subspan(1))});
}

LayerKind Reshape::layer_kind() {
  return {"Reshape", {"target_shape"}, {{"target_shape", Shape{}, true}}, &construct_layer<Reshape>};
}

Reshape::Reshape(Config given, DeviceId device)
    : Layer(std::move(given), std::move(device)), target_(config().shape("target_shape")) {
  const auto bad = [](std::int64_t size) { return size < 1 && size != -1; };
  if (std::any_of(target_.begin(), target_.end(), bad) || std::count(target_.begin(), target_.end(), -1) > 1) {
    fail(fmt::format("target_shape must list positive sizes of one example and at most one -1, got {}",
                     to_string(target_)));
  }
}

TensorType Reshape::output_type(std::span<const TensorType> inputs) const {
  if (inputs.size() != 1) fail(fmt::format("takes one input, got {}", inputs.size()));
  std::int64_t known = 1;
  for (const std::int64_t size : target_) known *= size == -1 ? 1 : size;
  Shape shape = target_;
  const auto open = std::find(shape.begin(), shape.end(), -1);
  const std::int64_t elements = inputs[0].elements();
  if (open != shape.end() && elements % known == 0) *open = elements / known;
  if (element_count(shape) != elements || elements % known != 0) {
    fail(fmt::format("cannot turn {} ({} elements) into {}", to_string(inputs[0]), elements, to_string(target_)));
  }
  return {shape, inputs[0].dtype};
}

Value Reshape::apply(const CallContext& context, std::span<const Value> inputs) const {
  const TensorType& type = context.graph.type(inputs[0]);
  const TensorType example{Shape(type.shape.begin() + 1, type.shape.end()), type.dtype};
  Shape shape = output_type(std::span(&example, 1)).shape;
  shape.insert(shape.begin(), type.shape[0]);
  return ops::reshape(context.graph, inputs[0], shape);
}

}  // namespace gpubench::nn
