// Normalizes each channel (an entry of the dimension `axis`) by the batch's mean and variance in training, and by their
// moving averages otherwise. Each replica of a model takes its own examples for the batch, or, synchronized, those of
// all.
#include <fmt/format.h>

#include "core/nn/axis.h"
#include "core/nn/layer_kind.h"
#include "core/ops/batch_norm.h"
#include "core/ops/state.h"

namespace gpubench::nn {
namespace {

class BatchNormalization final : public Layer {
 public:
  BatchNormalization(Config config, DeviceId device);
  std::string default_name() const override { return "batch_normalization"; }
  Channels channels() const override { return of_last_ ? Channels::kept : Channels::unknown; }
  std::optional<Normalization> normalization() const override {
    if (!of_last_) return std::nullopt;
    return Normalization{gamma_, beta_, moving_mean_, moving_variance_, config().number("epsilon")};
  }
  TensorType output_type(TensorTypes inputs) const override;

 private:
  void make_variables(VariableFactory& factory, TensorTypes inputs) override;
  Value apply(const CallContext& context, Values inputs) const override;

  ops::Normalized normalize(const CallContext& context, Value x, Value gamma, Value beta) const;

  double momentum_;
  float epsilon_;
  std::int64_t axis_;
  bool of_last_;  // as far as it is known: the channels are the last dimension
  VariablePtr gamma_, beta_, moving_mean_, moving_variance_;
};

BatchNormalization::BatchNormalization(Config given, DeviceId device)
    : Layer(std::move(given), std::move(device)),
      momentum_(config().number_within("momentum", 0, 1)),
      epsilon_(static_cast<float>(config().number_within("epsilon", 0, 1))),
      axis_(config().integer("axis")),
      of_last_(axis_ == -1) {
  parse_initializer(config().text("gamma_initializer"));
  parse_initializer(config().text("beta_initializer"));
}

TensorType BatchNormalization::output_type(TensorTypes inputs) const {
  const TensorType& input = only_input(inputs, -1, "[..., channels]");
  if (input.rank() < 1) fail(fmt::format("expects [..., channels] per example, got {}", to_string(input)));
  const std::int64_t channels = input.shape[example_axis(*this, axis_, input)];
  if (moving_mean_ && moving_mean_->type.shape[0] != channels) {
    fail(fmt::format("was built for {} channels, got {}", moving_mean_->type.shape[0], to_string(input)));
  }
  return input;
}

void BatchNormalization::make_variables(VariableFactory& factory, TensorTypes inputs) {
  const std::size_t axis = example_axis(*this, axis_, inputs[0]);
  const Shape channels{inputs[0].shape[axis]};
  of_last_ = axis + 1 == inputs[0].shape.size();
  const auto initializer = [&](std::string_view option) { return parse_initializer(config().text(option)); };
  if (config().flag("scale")) gamma_ = make_variable(factory, "gamma", channels, initializer("gamma_initializer"));
  if (config().flag("center")) beta_ = make_variable(factory, "beta", channels, initializer("beta_initializer"));
  moving_mean_ = make_variable(factory, "moving_mean", channels, parse_initializer("zeros"), false);
  moving_variance_ = make_variable(factory, "moving_variance", channels, parse_initializer("ones"), false);
}

Value BatchNormalization::apply(const CallContext& context, Values inputs) const {
  Graph& graph = context.graph;
  const Value x = swap_with_last(graph, inputs[0], axis_);
  const std::int64_t channels = moving_mean_->type.shape[0];
  const Value gamma = parameter(graph, gamma_, channels, 1), beta = parameter(graph, beta_, channels, 0);
  const Value moving_mean = graph.variable(moving_mean_), moving_variance = graph.variable(moving_variance_);
  // A frozen layer normalizes as in inference even in training, as in Keras.
  if (!context.training || !trainable()) {
    const Value y = ops::batch_norm_inference(graph, x, gamma, beta, moving_mean, moving_variance, epsilon_);
    return swap_with_last(graph, y, axis_);
  }
  const ops::Normalized result = normalize(context, x, gamma, beta);
  ops::moving_average(graph, moving_mean, result.mean, momentum_);
  ops::moving_average(graph, moving_variance, result.variance, momentum_);
  return swap_with_last(graph, result.y, axis_);
}

ops::Normalized BatchNormalization::normalize(const CallContext& context, Value x, Value gamma, Value beta) const {
  Graph& graph = context.graph;
  if (config().flag("synchronized") && context.replica) {
    if (!context.replica->batch_rows) {
      fail(fmt::format(
          "synchronized, it normalizes the rows that each replica was given of a batch, and got {}: call it "
          "on all of these rows",
          to_string(graph.type(x))));
    }
    const auto rows = static_cast<double>(graph.type(x).shape[0]);
    const double weight = rows / static_cast<double>(*context.replica->batch_rows);
    return ops::synchronized_batch_norm(graph, x, gamma, beta, epsilon_, weight,
                                        context.replica->loss_is_own ? ops::ReplicaLoss::own : ops::ReplicaLoss::part);
  }
  const Value y = ops::batch_norm(graph, x, gamma, beta, epsilon_);
  return {y, Value{y.node, 1}, Value{y.node, 2}};
}

}  // namespace

LayerKind batch_normalization() {
  return {"BatchNormalization",
          {"axis", "momentum", "epsilon", "center", "scale", "beta_initializer", "gamma_initializer"},
          {{"axis", std::int64_t{-1}},
           {"momentum", 0.99},
           {"epsilon", 1e-3},
           {"center", true},
           {"scale", true},
           {"gamma_initializer", std::string("ones")},
           {"beta_initializer", std::string("zeros")},
           {"synchronized", false}},
          &construct_layer<BatchNormalization>};
}

}  // namespace gpubench::nn
