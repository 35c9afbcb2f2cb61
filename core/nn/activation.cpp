#include "core/nn/activation.h"

#include "core/nn/activation_function.h"

namespace gpubench::nn {

LayerKind Activation::layer_kind() {
  return {"Activation", {"activation"}, {{"activation", std::string(), true}}, &construct_layer<Activation>};
}

Activation::Activation(Config given, DeviceId device) : Layer(std::move(given), std::move(device)) {
  check_activation("Activation", config().text("activation"));
}

TensorType Activation::output_type(std::span<const TensorType> inputs) const {
  TensorType output = only_input(inputs, -1, "");
  output.dtype = activated_dtype(config().text("activation"), policy());
  return output;
}

Value Activation::apply(const CallContext& context, std::span<const Value> inputs) const {
  return apply_activation(context.graph, config().text("activation"), inputs[0], policy());
}

}  // namespace gpubench::nn
