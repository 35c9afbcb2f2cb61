// Normalizes each channel (an entry of the dimension `axis`) by the batch's mean and variance in training, and by their
// moving averages otherwise. Each replica of a model takes its own examples for the batch, or, synchronized, those of
// all.
#include <fmt/format.h>
#include <numeric>

#include "core/nn/axis.h"
#include "core/nn/layer_kind.h"
#include "core/nn/masks.h"
#include "core/ops/batch_norm.h"
#include "core/ops/broadcast.h"
#include "core/ops/cast.h"
#include "core/ops/elementwise.h"
#include "core/ops/reduce.h"
#include "core/ops/state.h"

namespace gpubench::nn {
namespace {

class BatchNormalization final : public Layer {
 public:
  BatchNormalization(Config config, DeviceId device);
  std::string default_name() const override { return "batch_normalization"; }
  Channels channels() const override { return of_last_ ? Channels::kept : Channels::unknown; }
  MaskRule mask_rule() const override { return MaskRule::passes; }
  bool reads_masks() const override { return true; }
  std::optional<Normalization> normalization() const override {
    if (!of_last_) return std::nullopt;
    return Normalization{gamma_, beta_, moving_mean_, moving_variance_, config().number("epsilon")};
  }
  TensorType output_type(TensorTypes inputs) const override;

 private:
  void make_variables(VariableFactory& factory, TensorTypes inputs) override;
  Value apply(const CallContext& context, Values inputs) const override;
  LayerOutputs apply_all(const CallContext& context, const LayerArguments& given) const override;
  /// By the steps that are not masked, of which Keras counts 1e-7 more.
  ops::Normalized normalize_kept(Graph& graph, Value x, Value mask) const;

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

LayerOutputs BatchNormalization::apply_all(const CallContext& context, const LayerArguments& given) const {
  Graph& graph = context.graph;
  const Value mask = given.mask(0), x = given.inputs[0];
  if (mask) expect_mask(*this, graph, mask, x, graph.type(x).shape.size() - 1);
  if (!mask || !context.training || !trainable()) return Layer::apply_all(context, given);
  if (config().flag("synchronized") && context.replica) {
    fail("synchronized, it does not count masked steps apart; give it an input without a mask");
  }
  if (!of_last_) {
    fail(
        fmt::format("axis = {}: it counts masked steps apart with the channels as the last dimension only; give it an "
                    "input without a mask, or axis = -1",
                    axis_));
  }
  const ops::Normalized result = normalize_kept(graph, x, mask);
  ops::moving_average(graph, graph.variable(moving_mean_), result.mean, momentum_);
  ops::moving_average(graph, graph.variable(moving_variance_), result.variance, momentum_);
  return {{result.y}, {}};
}

ops::Normalized BatchNormalization::normalize_kept(Graph& graph, Value x, Value mask) const {
  const auto number = [&](double value) { return ops::scalar(graph, value, Dtype::f32); };
  std::vector<std::int64_t> axes(graph.type(x).shape.size() - 1);
  std::iota(axes.begin(), axes.end(), 0);
  const Value wide = ops::cast(graph, x, Dtype::f32);
  const Value count = ops::add(graph, ops::reduce_sum(graph, ops::cast(graph, mask, Dtype::f32)), number(1e-7));
  const auto mean_of = [&](Value values) {
    return ops::div(graph, ops::reduce_sum(graph, kept_by(graph, mask, values), axes), count);
  };
  ops::Normalized result;
  result.mean = mean_of(wide);
  const Value centred = ops::sub(graph, wide, result.mean);
  result.variance = mean_of(ops::square(graph, centred));
  Value y = ops::mul(graph, centred, ops::rsqrt(graph, ops::add(graph, result.variance, number(epsilon_))));
  if (gamma_) y = ops::mul(graph, y, ops::cast(graph, graph.variable(gamma_), Dtype::f32));
  if (beta_) y = ops::add(graph, y, ops::cast(graph, graph.variable(beta_), Dtype::f32));
  result.y = ops::cast(graph, y, graph.type(x).dtype);
  return result;
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
