#include "core/nn/dense.h"

#include <fmt/format.h>

#include "core/nn/activation_function.h"
#include "core/ops/bias.h"
#include "core/ops/matmul.h"
#include "core/ops/quantized_linear.h"
#include "core/ops/shape_ops.h"

namespace gpubench::nn {

LayerKind Dense::layer_kind() {
  return {"Dense",
          {"units"},
          {{"units", std::int64_t{0}, true},
           {"activation", std::string()},
           {"use_bias", true},
           {"kernel_initializer", std::string("glorot_uniform")},
           {"bias_initializer", std::string("zeros")},
           KernelQuantizer::field()},
          &construct_layer<Dense>};
}

Dense::Dense(Config given, DeviceId device)
    : Layer(std::move(given), std::move(device)),
      units_(config().integer_from("units", 1)),
      activation_(config().text("activation")),
      quantizer_(config(), policy()) {
  check_activation("Dense", activation_);
  parse_initializer(config().text("kernel_initializer"));
  parse_initializer(config().text("bias_initializer"));
}

TensorType Dense::output_type(std::span<const TensorType> inputs) const {
  const TensorType& input = only_input(inputs, -1, "[features]");
  if (input.rank() < 1) fail(fmt::format("expects [..., features] per example, got {}", to_string(input)));
  const std::int64_t features = input.shape.back();
  if (kernel_ && kernel_->type.shape[0] != features) {
    fail(fmt::format("was built for {} features, got {}", kernel_->type.shape[0], to_string(input)));
  }
  TensorType output = input;
  output.shape.back() = units_;
  output.dtype = activated_dtype(activation_, policy());
  return output;
}

void Dense::make_variables(VariableFactory& factory, std::span<const TensorType> inputs) {
  const Shape shape = {inputs[0].shape.back(), units_};
  const auto make = [&](const std::string& name, const HostTensor& initial) {
    return make_variable(factory, name, initial, false);
  };
  kernel_ = quantizer_.integer()
                ? quantizer_.make_kernel(make, shape)
                : make_variable(factory, "kernel", shape, parse_initializer(config().text("kernel_initializer")));
  if (config().flag("use_bias")) {
    bias_ = make_variable(factory, "bias", {units_}, parse_initializer(config().text("bias_initializer")),
                          !quantizer_.integer());
  }
  quantizer_.make_variables(make, units_);
}

Value Dense::product(const CallContext& context, Value x) const {
  Graph& graph = context.graph;
  const Value read = quantizer_.input(context, x);
  if (!quantizer_.integer()) {
    return ops::matmul(graph, read, quantizer_.kernel(graph, weight(context, kernel_)));
  }
  if (context.training) fail(KernelQuantizer::untrainable);
  return ops::quantized_matmul(graph, read, graph.variable(kernel_), quantizer_.scale(graph));
}

Value Dense::apply(const CallContext& context, std::span<const Value> inputs) const {
  Graph& graph = context.graph;
  Shape shape = graph.type(inputs[0]).shape;
  Value x = inputs[0];
  if (shape.size() > 2) x = ops::reshape(graph, x, {-1, shape.back()});
  Value y = product(context, x);
  if (bias_) y = ops::bias_add(graph, y, weight(context, bias_));
  y = apply_activation(graph, activation_, y, policy());
  if (shape.size() == 2) return y;
  shape.back() = units_;
  return ops::reshape(graph, y, shape);
}

}  // namespace gpubench::nn
