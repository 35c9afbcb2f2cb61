#include "core/nn/pooling.h"

#include "core/ops/reduce.h"

namespace gpubench::nn {

std::vector<ConfigField> WindowPooling::fields() {
  return {{"pool_size", Shape{2, 2}}, {"strides", Shape{}}, {"padding", std::string("valid")}};
}

WindowPooling::WindowPooling(Config given, DeviceId device) : WindowLayer(std::move(given), std::move(device)) {
  options_.size = config().pair("pool_size");
  options_.strides = config().shape("strides").empty() ? options_.size : config().pair("strides");
  options_.padding = window_padding();
}

TensorType WindowPooling::output_type(std::span<const TensorType> inputs) const {
  const TensorType& input = only_input(inputs, 3, "[height, width, channels]");
  return {{slide_window(input, 0, options_.size, options_.strides, options_.padding),
           slide_window(input, 1, options_.size, options_.strides, options_.padding), input.shape[2]},
          input.dtype};
}

LayerKind MaxPooling2D::layer_kind() {
  return {"MaxPooling2D", {"pool_size"}, fields(), &construct_layer<MaxPooling2D>};
}

Value MaxPooling2D::apply(const CallContext& context, std::span<const Value> inputs) const {
  return ops::max_pool2d(context.graph, inputs[0], options_);
}

LayerKind AveragePooling2D::layer_kind() {
  return {"AveragePooling2D", {"pool_size"}, fields(), &construct_layer<AveragePooling2D>};
}

Value AveragePooling2D::apply(const CallContext& context, std::span<const Value> inputs) const {
  return ops::average_pool2d(context.graph, inputs[0], options_);
}

LayerKind GlobalAveragePooling2D::layer_kind() {
  return {"GlobalAveragePooling2D", {}, {}, &construct_layer<GlobalAveragePooling2D>};
}

TensorType GlobalAveragePooling2D::output_type(std::span<const TensorType> inputs) const {
  const TensorType& input = only_input(inputs, 3, "[height, width, channels]");
  return {{input.shape[2]}, input.dtype};
}

Value GlobalAveragePooling2D::apply(const CallContext& context, std::span<const Value> inputs) const {
  return ops::reduce_mean(context.graph, inputs[0], {1, 2}, false);
}

}  // namespace gpubench::nn
