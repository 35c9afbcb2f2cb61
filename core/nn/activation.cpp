#include "core/nn/activation.h"

#include <array>
#include <fmt/format.h>

#include "core/base/known_names.h"
#include "core/nn/layer_kind.h"
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

constexpr std::array activations = {
    ActivationRow{"linear", [](Graph&, Value x) { return x; }},
    ActivationRow{"relu", [](Graph& graph, Value x) { return ops::relu(graph, x); }},
    ActivationRow{"sigmoid", [](Graph& graph, Value x) { return ops::sigmoid(graph, x); }},
    ActivationRow{"tanh", [](Graph& graph, Value x) { return ops::tanh(graph, x); }},
    ActivationRow{"gelu", [](Graph& graph, Value x) { return ops::gelu(graph, x); }},
    ActivationRow{"gelu_tanh", [](Graph& graph, Value x) { return ops::gelu_tanh(graph, x); }},
    ActivationRow{"softmax", [](Graph& graph, Value x) { return ops::softmax(graph, x); }, true},
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
  ActivationLayer(Config given, DeviceId device) : Layer(std::move(given), std::move(device)) {
    check_activation("Activation", config().text("activation"));
  }
  std::string default_name() const override { return "activation"; }
  TensorType output_type(std::span<const TensorType> inputs) const override {
    TensorType output = only_input(inputs, -1, "");
    output.dtype = activated_dtype(config().text("activation"), policy());
    return output;
  }

 private:
  Value apply(const CallContext& context, std::span<const Value> inputs) const override {
    return apply_activation(context.graph, config().text("activation"), inputs[0], policy());
  }
};

}  // namespace

LayerKind nn::activation() {
  return {"Activation", {"activation"}, {{"activation", std::string(), true}}, &construct_layer<ActivationLayer>};
}

void check_activation(std::string_view owner, std::string_view name) {
  if (find_activation(name) != nullptr) return;
  throw_unknown_name(fmt::format("{}: unknown activation", owner), name, names_of(activations, &ActivationRow::name));
}

Dtype activated_dtype(std::string_view name, const DtypePolicy& policy) {
  return policy.mixed() && find_activation(name)->in_float32 ? Dtype::f32 : policy.compute;
}

Value apply_activation(Graph& graph, std::string_view name, Value x, const DtypePolicy& policy) {
  return find_activation(name)->apply(graph, ops::cast(graph, x, activated_dtype(name, policy)));
}

}  // namespace gpubench
