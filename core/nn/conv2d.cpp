#include "core/nn/conv2d.h"

#include <fmt/format.h>

#include "core/nn/activation_function.h"
#include "core/ops/bias.h"
#include "core/ops/quantized_linear.h"

namespace gpubench::nn {

LayerKind Conv2D::layer_kind() {
  return {"Conv2D",
          {"filters", "kernel_size"},
          {{"filters", std::int64_t{0}, true},
           {"kernel_size", Shape{}, true},
           {"strides", Shape{1, 1}},
           {"padding", std::string("valid")},
           {"activation", std::string()},
           {"use_bias", true},
           {"kernel_initializer", std::string("glorot_uniform")},
           {"bias_initializer", std::string("zeros")},
           KernelQuantizer::field()},
          &construct_layer<Conv2D>};
}

Conv2D::Conv2D(Config given, DeviceId device)
    : WindowLayer(std::move(given), std::move(device)),
      filters_(config().integer_from("filters", 1)),
      size_(config().pair("kernel_size")),
      activation_(config().text("activation")),
      quantizer_(config(), policy()) {
  options_.strides = config().pair("strides");
  options_.padding = window_padding();
  check_activation("Conv2D", activation_);
  parse_initializer(config().text("kernel_initializer"));
  parse_initializer(config().text("bias_initializer"));
}

TensorType Conv2D::output_type(std::span<const TensorType> inputs) const {
  const TensorType& input = only_input(inputs, 3, "[height, width, channels]");
  if (kernel_ && kernel_->type.shape[2] != input.shape[2]) {
    fail(fmt::format("was built for {} channels, got {}", kernel_->type.shape[2], to_string(input)));
  }
  return {{slide_window(input, 0, size_, options_.strides, options_.padding),
           slide_window(input, 1, size_, options_.strides, options_.padding), filters_},
          activated_dtype(activation_, policy())};
}

void Conv2D::make_variables(VariableFactory& factory, std::span<const TensorType> inputs) {
  const Shape shape = {size_[0], size_[1], inputs[0].shape[2], filters_};
  const auto make = [&](const std::string& name, const HostTensor& initial) {
    return make_variable(factory, name, initial, false);
  };
  kernel_ = quantizer_.integer()
                ? quantizer_.make_kernel(make, shape)
                : make_variable(factory, "kernel", shape, parse_initializer(config().text("kernel_initializer")));
  if (config().flag("use_bias")) {
    bias_ = make_variable(factory, "bias", {filters_}, parse_initializer(config().text("bias_initializer")),
                          !quantizer_.integer());
  }
  quantizer_.make_variables(make, filters_);
}

Value Conv2D::product(const CallContext& context, Value x) const {
  Graph& graph = context.graph;
  const Value read = quantizer_.input(context, x);
  if (!quantizer_.integer()) {
    return ops::conv2d(graph, read, quantizer_.kernel(graph, weight(context, kernel_)), options_);
  }
  if (context.training) fail(KernelQuantizer::untrainable);
  return ops::quantized_conv2d(graph, read, graph.variable(kernel_), quantizer_.scale(graph), options_);
}

Value Conv2D::apply(const CallContext& context, std::span<const Value> inputs) const {
  Graph& graph = context.graph;
  Value y = product(context, inputs[0]);
  if (bias_) y = ops::bias_add(graph, y, weight(context, bias_));
  return apply_activation(graph, activation_, y, policy());
}

}  // namespace gpubench::nn
