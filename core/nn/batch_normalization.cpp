// Normalizes each channel (the last dimension) by the batch's mean and variance in training, and by their moving
// averages otherwise. Each replica of a model takes its own examples for the batch, or, synchronized, those of all.
#include <fmt/format.h>

#include "core/nn/layer_kind.h"
#include "core/ops/batch_norm.h"
#include "core/ops/state.h"

namespace gpubench::nn {
namespace {

class BatchNormalization final : public Layer {
 public:
  BatchNormalization(Config config, DeviceId device);
  std::string default_name() const override { return "batch_normalization"; }
  Channels channels() const override { return Channels::kept; }
  std::optional<Normalization> normalization() const override {
    return Normalization{gamma_, beta_, moving_mean_, moving_variance_, config().number("epsilon")};
  }
  TensorType output_type(TensorTypes inputs) const override;

 private:
  void make_variables(VariableFactory& factory, TensorTypes inputs) override;
  Value apply(const CallContext& context, Values inputs) const override;

  ops::Normalized normalize(const CallContext& context, Value x, Value gamma, Value beta) const;

  double momentum_;
  float epsilon_;
  VariablePtr gamma_, beta_, moving_mean_, moving_variance_;
};

BatchNormalization::BatchNormalization(Config given, DeviceId device)
    : Layer(std::move(given), std::move(device)),
      momentum_(config().number_within("momentum", 0, 1)),
      epsilon_(static_cast<float>(config().number_within("epsilon", 0, 1))) {
  parse_initializer(config().text("gamma_initializer"));
  parse_initializer(config().text("beta_initializer"));
}

TensorType BatchNormalization::output_type(TensorTypes inputs) const {
  const TensorType& input = only_input(inputs, -1, "[..., channels]");
  if (input.rank() < 1) fail(fmt::format("expects [..., channels] per example, got {}", to_string(input)));
  if (gamma_ && gamma_->type.shape[0] != input.shape.back()) {
    fail(fmt::format("was built for {} channels, got {}", gamma_->type.shape[0], to_string(input)));
  }
  return input;
}

void BatchNormalization::make_variables(VariableFactory& factory, TensorTypes inputs) {
  const Shape channels{inputs[0].shape.back()};
  gamma_ = make_variable(factory, "gamma", channels, parse_initializer(config().text("gamma_initializer")));
  beta_ = make_variable(factory, "beta", channels, parse_initializer(config().text("beta_initializer")));
  moving_mean_ = make_variable(factory, "moving_mean", channels, parse_initializer("zeros"), false);
  moving_variance_ = make_variable(factory, "moving_variance", channels, parse_initializer("ones"), false);
}

Value BatchNormalization::apply(const CallContext& context, Values inputs) const {
  Graph& graph = context.graph;
  // Not weight(): the op takes float32 parameters and statistics beside data of 16 bits.
  const Value gamma = graph.variable(gamma_), beta = graph.variable(beta_);
  const Value moving_mean = graph.variable(moving_mean_), moving_variance = graph.variable(moving_variance_);
  // A frozen layer normalizes as in inference even in training, as in Keras.
  if (!context.training || !trainable()) {
    return ops::batch_norm_inference(graph, inputs[0], gamma, beta, moving_mean, moving_variance, epsilon_);
  }
  const ops::Normalized result = normalize(context, inputs[0], gamma, beta);
  ops::moving_average(graph, moving_mean, result.mean, momentum_);
  ops::moving_average(graph, moving_variance, result.variance, momentum_);
  return result.y;
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
          {},
          {{"momentum", 0.99},
           {"epsilon", 1e-3},
           {"gamma_initializer", std::string("ones")},
           {"beta_initializer", std::string("zeros")},
           {"synchronized", false}},
          &construct_layer<BatchNormalization>};
}

}  // namespace gpubench::nn
