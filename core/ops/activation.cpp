#include "core/ops/activation.h"

#include <array>
#include <fmt/format.h>

#include "core/base/error.h"
#include "core/ops/check.h"
#include "core/ops/elementwise.h"

namespace gpubench {
namespace {

constexpr std::array<std::string_view, 6> activation_names{"none", "relu", "sigmoid", "tanh", "gelu", "gelu_tanh"};

}  // namespace

std::string_view to_string(Activation activation) {
  return activation_names[static_cast<std::size_t>(activation)];
}

Activation parse_activation(std::string_view name) {
  for (std::size_t i = 0; i < activation_names.size(); ++i) {
    if (activation_names[i] == name) return static_cast<Activation>(i);
  }
  throw Error(fmt::format("unknown activation '{}' (known: {})", name, fmt::join(activation_names, ", ")));
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
