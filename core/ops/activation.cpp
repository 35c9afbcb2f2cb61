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
}  // namespace gpubench
