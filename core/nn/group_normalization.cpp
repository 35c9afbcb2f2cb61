// Normalizes groups of neighbouring channels of each example by their own mean and variance (Wu and He, 2018), in
// training and inference alike. Data of 16 bits are normalized in float32.
#include <fmt/format.h>

#include "core/nn/axis.h"
#include "core/nn/layer_kind.h"
#include "core/ops/broadcast.h"
#include "core/ops/cast.h"
#include "core/ops/elementwise.h"
#include "core/ops/reduce.h"
#include "core/ops/shape_ops.h"

namespace gpubench::nn {
namespace {

/// The value of the option groups for which each channel is a group of its own.
constexpr std::int64_t each_channel = -1;

class GroupNormalization final : public Layer {
 public:
  GroupNormalization(Config given, DeviceId device)
      : Layer(std::move(given), std::move(device)),
        groups_(config().integer("groups")),
        axis_(config().integer("axis")),
        epsilon_(config().number_within("epsilon", 0, 1)) {
    if (groups_ != each_channel) config().integer_from("groups", 1);
    parse_initializer(config().text("gamma_initializer"));
    parse_initializer(config().text("beta_initializer"));
  }
  std::string default_name() const override { return "group_normalization"; }
  MaskRule mask_rule() const override { return MaskRule::passes; }
  Channels channels() const override { return Channels::unknown; }

  TensorType output_type(TensorTypes inputs) const override {
    const TensorType& input = only_input(inputs, -1, "[..., channels]");
    const std::int64_t channels = input.shape[example_axis(*this, axis_, input)];
    if (channels < 1 || (groups_ != each_channel && channels % groups_ != 0)) {
      fail(
          fmt::format("has {} groups, which do not divide the {} channels of {}", groups_, channels, to_string(input)));
    }
    if (!variables().empty() && variables()[0]->type.shape[0] != channels) {
      fail(fmt::format("was built for {} channels, got {}", variables()[0]->type.shape[0], to_string(input)));
    }
    return input;
  }

 private:
  void make_variables(VariableFactory& factory, TensorTypes inputs) override {
    const Shape channels{inputs[0].shape[example_axis(*this, axis_, inputs[0])]};
    const auto initializer = [&](std::string_view option) { return parse_initializer(config().text(option)); };
    if (config().flag("scale")) gamma_ = make_variable(factory, "gamma", channels, initializer("gamma_initializer"));
    if (config().flag("center")) beta_ = make_variable(factory, "beta", channels, initializer("beta_initializer"));
  }

  Value apply(const CallContext& context, Values inputs) const override {
    Graph& graph = context.graph;
    const Value x = swap_with_last(graph, ops::cast(graph, inputs[0], Dtype::f32), axis_);
    const Shape shape = graph.type(x).shape;
    const std::int64_t groups = groups_ == each_channel ? shape.back() : groups_;
    const std::int64_t places = element_count(std::span(shape).subspan(1, shape.size() - 2));
    const Value grouped = ops::reshape(graph, x, {shape[0], places, groups, shape.back() / groups});
    const Value difference = ops::sub(graph, grouped, ops::reduce_mean(graph, grouped, {1, 3}, true));
    const Value variance = ops::reduce_mean(graph, ops::square(graph, difference), {1, 3}, true);
    const Value inverse = ops::rsqrt(graph, ops::add(graph, variance, ops::scalar(graph, epsilon_, Dtype::f32)));
    Value y = ops::reshape(graph, ops::mul(graph, difference, inverse), shape);
    const auto wide = [&](const VariablePtr& variable) {
      return ops::cast(graph, graph.variable(variable), Dtype::f32);
    };
    if (gamma_) y = ops::mul(graph, y, wide(gamma_));
    if (beta_) y = ops::add(graph, y, wide(beta_));
    return ops::cast(graph, swap_with_last(graph, y, axis_), graph.type(inputs[0]).dtype);
  }

  std::int64_t groups_, axis_;
  double epsilon_;
  VariablePtr gamma_, beta_;
};

}  // namespace

LayerKind group_normalization() {
  return {"GroupNormalization",
          {"groups", "axis", "epsilon", "center", "scale", "beta_initializer", "gamma_initializer"},
          {{"groups", std::int64_t{32}},
           {"axis", std::int64_t{-1}},
           {"epsilon", 1e-3},
           {"center", true},
           {"scale", true},
           {"beta_initializer", std::string("zeros")},
           {"gamma_initializer", std::string("ones")}},
          &construct_layer<GroupNormalization>};
}

}  // namespace gpubench::nn
