// Layers that normalize each position over its channels, the last dimension: LayerNormalization by mean and variance,
// RMSNormalization by the root of the mean square. Training and inference compute the same.
#include <fmt/format.h>

#include "core/nn/layer_kind.h"
#include "core/ops/layer_norm.h"

namespace gpubench::nn {
namespace {

/// What both have in common: `axis`, `epsilon`, and variables [channels].
class RowNormalization : public Layer {
 public:
  RowNormalization(Config given, DeviceId device)
      : Layer(std::move(given), std::move(device)),
        epsilon_(static_cast<float>(config().number_within("epsilon", 0, 1))) {}
  Channels channels() const final { return Channels::unknown; }

  TensorType output_type(TensorTypes inputs) const final {
    const TensorType& input = only_input(inputs, -1, "[..., channels]");
    if (input.rank() < 1) fail(fmt::format("expects [..., channels] per example, got {}", to_string(input)));
    const std::int64_t axis = config().integer("axis");
    if (axis != -1 && axis != input.rank()) {
      fail(fmt::format("normalizes over the last axis only, {} (or -1) for {} per example, got axis {}", input.rank(),
                       to_string(input), axis));
    }
    if (!variables().empty() && variables()[0]->type.shape[0] != input.shape.back()) {
      fail(fmt::format("was built for {} channels, got {}", variables()[0]->type.shape[0], to_string(input)));
    }
    return input;
  }

 protected:
  float epsilon() const { return epsilon_; }

 private:
  float epsilon_;
};

class LayerNormalization final : public RowNormalization {
 public:
  LayerNormalization(Config given, DeviceId device) : RowNormalization(std::move(given), std::move(device)) {
    parse_initializer(config().text("gamma_initializer"));
    parse_initializer(config().text("beta_initializer"));
  }
  std::string default_name() const override { return "layer_normalization"; }
  MaskRule mask_rule() const override { return MaskRule::passes; }

 private:
  void make_variables(VariableFactory& factory, TensorTypes inputs) override {
    const Shape channels{inputs[0].shape.back()};
    const auto initializer = [&](std::string_view option) { return parse_initializer(config().text(option)); };
    if (config().flag("scale")) gamma_ = make_variable(factory, "gamma", channels, initializer("gamma_initializer"));
    if (config().flag("center")) beta_ = make_variable(factory, "beta", channels, initializer("beta_initializer"));
  }

  Value apply(const CallContext& context, Values inputs) const override {
    Graph& graph = context.graph;
    const std::int64_t channels = graph.type(inputs[0]).shape.back();
    return ops::layer_norm(graph, inputs[0], parameter(graph, gamma_, channels, 1),
                           parameter(graph, beta_, channels, 0), epsilon());
  }

  VariablePtr gamma_, beta_;
};

class RmsNormalization final : public RowNormalization {
 public:
  using RowNormalization::RowNormalization;
  std::string default_name() const override { return "rms_normalization"; }

 private:
  void make_variables(VariableFactory& factory, TensorTypes inputs) override {
    scale_ = make_variable(factory, "scale", {inputs[0].shape.back()}, parse_initializer("ones"));
  }

  Value apply(const CallContext& context, Values inputs) const override {
    return ops::rms_norm(context.graph, inputs[0], context.graph.variable(scale_), epsilon());
  }

  VariablePtr scale_;
};

}  // namespace

LayerKind layer_normalization() {
  return {"LayerNormalization",
          {"axis", "epsilon", "center", "scale", "beta_initializer", "gamma_initializer"},
          {{"axis", std::int64_t{-1}},
           {"epsilon", 1e-3},
           {"center", true},
           {"scale", true},
           {"beta_initializer", std::string("zeros")},
           {"gamma_initializer", std::string("ones")}},
          &construct_layer<LayerNormalization>};
}

LayerKind rms_normalization() {
  return {"RMSNormalization",
          {"axis", "epsilon"},
          {{"axis", std::int64_t{-1}}, {"epsilon", 1e-6}},
          &construct_layer<RmsNormalization>};
}

}  // namespace gpubench::nn
