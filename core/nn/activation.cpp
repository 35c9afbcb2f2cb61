#include "core/nn/activation.h"

#include <array>
#include <fmt/format.h>

#include "core/base/known_names.h"
#include "core/nn/layer_kind.h"
#include "core/ops/broadcast.h"
#include "core/ops/cast.h"
#include "core/ops/elementwise.h"
#include "core/ops/softmax.h"

namespace gpubench {
namespace {

struct ActivationRow {
  std::string_view name;
  Value (*apply)(Graph&, Value);
  bool in_float32 = false;  ///< under a mixed policy
};

/// A scalar of the type of x.
Value number(Graph& graph, double value, Value x) {
  return ops::scalar(graph, value, graph.type(x).dtype);
}

/// With the constants of Klambauer et al., "Self-Normalizing Neural Networks".
Value selu(Graph& graph, Value x) {
  constexpr double alpha = 1.6732632423543772, scale = 1.0507009873554805;
  return ops::mul(graph, ops::elu(graph, x, number(graph, alpha, x)), number(graph, scale, x));
}

Value softsign(Graph& graph, Value x) {
  return ops::div(graph, x, ops::add(graph, ops::abs(graph, x), number(graph, 1, x)));
}

Value hard_sigmoid(Graph& graph, Value x) {
  const Value shifted = ops::relu6(graph, ops::add(graph, x, number(graph, 3, x)));
  return ops::mul(graph, shifted, number(graph, 1.0 / 6, x));
}

Value hard_silu(Graph& graph, Value x) {
  return ops::mul(graph, x, hard_sigmoid(graph, x));
}

Value hard_tanh(Graph& graph, Value x) {
  return ops::minimum(graph, ops::maximum(graph, x, number(graph, -1, x)), number(graph, 1, x));
}

constexpr std::array activations = {
    ActivationRow{"linear", [](Graph&, Value x) { return x; }},
    ActivationRow{"relu", [](Graph& graph, Value x) { return ops::relu(graph, x); }},
    ActivationRow{"sigmoid", [](Graph& graph, Value x) { return ops::sigmoid(graph, x); }},
    ActivationRow{"tanh", [](Graph& graph, Value x) { return ops::tanh(graph, x); }},
    ActivationRow{"gelu", [](Graph& graph, Value x) { return ops::gelu(graph, x); }},
    ActivationRow{"gelu_tanh", [](Graph& graph, Value x) { return ops::gelu_tanh(graph, x); }},
    ActivationRow{"softmax", [](Graph& graph, Value x) { return ops::softmax(graph, x); }, true},
    ActivationRow{"log_softmax",
                  [](Graph& graph, Value x) { return graph.apply(std::make_shared<const LogSoftmax>(), {x}); }, true},
    ActivationRow{"relu6", [](Graph& graph, Value x) { return ops::relu6(graph, x); }},
    ActivationRow{"leaky_relu", [](Graph& graph, Value x) { return ops::leaky_relu(graph, x, number(graph, 0.2, x)); }},
    ActivationRow{"elu", [](Graph& graph, Value x) { return ops::elu(graph, x, number(graph, 1, x)); }},
    ActivationRow{"selu", &selu},
    ActivationRow{"silu", [](Graph& graph, Value x) { return ops::silu(graph, x); }},
    ActivationRow{"swish", [](Graph& graph, Value x) { return ops::silu(graph, x); }},
    ActivationRow{"softplus", [](Graph& graph, Value x) { return ops::softplus(graph, x); }},
    ActivationRow{"softsign", &softsign},
    ActivationRow{"exponential", [](Graph& graph, Value x) { return ops::exp(graph, x); }},
    ActivationRow{"hard_sigmoid", &hard_sigmoid},
    ActivationRow{"hard_silu", &hard_silu},
    ActivationRow{"hard_swish", &hard_silu},
    ActivationRow{"hard_tanh", &hard_tanh},
};

const ActivationRow* find_activation(std::string_view name) {
  if (name.empty()) return &activations[0];
  for (const ActivationRow& row : activations) {
    if (row.name == name) return &row;
  }
  return nullptr;
}

/// An activation function as a layer of its own.
class ActivationLayer final : public Layer {
 public:
  ActivationLayer(Config given, DeviceId device) : Layer(std::move(given), std::move(device)), activation_(*this) {}
  std::string default_name() const override { return "activation"; }
  MaskRule mask_rule() const override { return MaskRule::passes; }
  TensorType output_type(TensorTypes inputs) const override {
    TensorType output = only_input(inputs, -1, "");
    output.dtype = activation_.output_dtype();
    return output;
  }
  Channels channels() const override { return config().function("activation") ? Channels::unknown : Channels::kept; }

 private:
  Value apply(const CallContext& context, Values inputs) const override {
    return activation_.apply(context, inputs[0]);
  }

  ActivationOption activation_;
};

}  // namespace

LayerKind nn::activation() {
  return {"Activation", {"activation"}, {{"activation", std::string(), true, true}}, &construct_layer<ActivationLayer>};
}

void check_activation(std::string_view owner, std::string_view name) {
  if (find_activation(name) != nullptr) return;
  throw_unknown_name(fmt::format("{}: unknown activation", owner), name, names_of(activations, &ActivationRow::name),
                     "", "activation");
}

Dtype activated_dtype(std::string_view name, const DtypePolicy& policy) {
  return policy.mixed() && find_activation(name)->in_float32 ? Dtype::f32 : policy.compute;
}

Value apply_activation(Graph& graph, std::string_view name, Value x, const DtypePolicy& policy) {
  return find_activation(name)->apply(graph, ops::cast(graph, x, activated_dtype(name, policy)));
}

ActivationOption::ActivationOption(const Layer& layer) : layer_(layer) {
  if (const LayerFunctionPtr function = layer.config().function("activation")) {
    body_ = function->body(layer);
  } else {
    name_ = layer.config().text("activation");
    check_activation(layer.kind(), name_);
  }
}

Dtype ActivationOption::output_dtype() const {
  return body_ ? layer_.policy().compute : activated_dtype(name_, layer_.policy());
}

Value ActivationOption::apply(const CallContext& context, Value x) const {
  Graph& graph = context.graph;
  if (!body_) return apply_activation(graph, name_, x, layer_.policy());
  const Shape shape = graph.type(x).shape;
  const Value y = body_->call(context, std::array{x});
  if (graph.type(y).shape == shape) return ops::cast(graph, y, output_dtype());
  layer_.fail(fmt::format("its activation must keep the shape {}, and returned {}", to_string(shape),
                          to_string(graph.type(y))));
}

}  // namespace gpubench
