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

Activation parse_activation(std::string_view name) {
  return activations.parse(name);
}

namespace ops {

Value activate(Graph& graph, Activation activation, Value x) {
  switch (activation) {
    case Activation::none:
      return x;
    case Activation::relu:
      return relu(graph, x);
    case Activation::sigmoid:
      return sigmoid(graph, x);
    case Activation::tanh:
      return tanh(graph, x);
    case Activation::gelu:
      return gelu(graph, x);
    case Activation::gelu_tanh:
      return gelu_tanh(graph, x);
  }
  return x;
}

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
}  // namespace gpubench
