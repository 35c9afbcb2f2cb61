#include "core/ops/activation.h"

#include "core/base/enum_names.h"
#include "core/ops/check.h"
#include "core/ops/elementwise.h"

namespace gpubench {
namespace {

constexpr EnumNames<Activation, 6> activations{"unknown activation",
                                               {"none", "relu", "sigmoid", "tanh", "gelu", "gelu_tanh"}};

}  // namespace

std::string_view to_string(Activation activation) {
  return activations[activation];
}

namespace ops {

bool needs_argument(Activation activation) {
  return activation == Activation::gelu || activation == Activation::gelu_tanh;
}

Value activation_gradient(Graph& graph, Activation activation, Value dy, Value y) {
  switch (activation) {
    case Activation::none:
      return dy;
    case Activation::relu:
      return relu_gradient(graph, dy, y);
    case Activation::sigmoid:
      return sigmoid_gradient(graph, dy, y);
    case Activation::tanh:
      return tanh_gradient(graph, dy, y);
    case Activation::gelu:
    case Activation::gelu_tanh:
      break;
  }
  refuse(to_string(activation), "its gradient needs the input, which a fused kernel does not keep");
}

}  // namespace ops

Value undo_activation(Graph& graph, Activation activation, const OpPtr& linear, Values inputs, Value y, Value dy) {
  if (!ops::needs_argument(activation)) return ops::activation_gradient(graph, activation, dy, y);
  const Value x = graph.apply(linear, inputs);
  return activation == Activation::gelu ? ops::gelu_gradient(graph, dy, x) : ops::gelu_tanh_gradient(graph, dy, x);
}

}  // namespace gpubench
