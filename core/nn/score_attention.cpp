// Attention and AdditiveAttention: one head without products of its own. Scores that are products are computed by the
// op of all attention; others, sums of tanh(query + key), as the matrix that they are.
#include <algorithm>
#include <fmt/format.h>

#include "core/base/error.h"
#include "core/nn/activation.h"
#include "core/nn/dropout.h"
#include "core/nn/layer_kind.h"
#include "core/nn/masks.h"
#include "core/ops/attention.h"
#include "core/ops/broadcast.h"
#include "core/ops/cast.h"
#include "core/ops/elementwise.h"
#include "core/ops/matmul.h"
#include "core/ops/reduce.h"
#include "core/ops/shape_ops.h"

namespace gpubench::nn {
namespace {

/// Inputs: query and value, or query, value and key, which is the value unless given; and behind them a mask of keys,
/// or of queries and keys, which is not floating-point.
class ScoreAttention final : public SeededLayer {
 public:
  static std::vector<ConfigField> fields(bool use_scale) {
    return {{"use_scale", use_scale}, {"dropout", 0.0}, {"seed", std::int64_t{-1}}, {"use_causal_mask", false}};
  }
  ScoreAttention(Config given, DeviceId device)
      : SeededLayer(std::move(given), std::move(device)),
        additive_(kind() == "AdditiveAttention"),
        dropout_(config().number_within("dropout", 0, 1)) {
    if (additive_ || mode() == "dot" || mode() == "concat") return;
    throw Error(fmt::format("Attention: score_mode must be 'dot' or 'concat', got '{}'", mode()));
  }
  std::string default_name() const override { return additive_ ? "additive_attention" : "attention"; }
  Channels channels() const override { return Channels::unknown; }
  MaskRule mask_rule() const override { return MaskRule::passes; }
  bool reads_masks() const override { return true; }
  bool draws() const override { return dropout_ > 0; }

  TensorType output_type(TensorTypes inputs) const override {
    const bool masked = !inputs.empty() && !is_floating(inputs.back().dtype);
    const std::size_t count = inputs.size() - (masked ? 1 : 0);
    if (count < 2 || count > 3) {
      fail(
          fmt::format("takes a query, a value, a key unless it is the value, and a mask of integers or bools, got {} "
                      "inputs",
                      inputs.size()));
    }
    for (const TensorType& input : inputs.first(count)) {
      if (input.rank() == 2 && is_floating(input.dtype)) continue;
      fail(fmt::format("expects floating-point [time, channels] per example, got {}", to_string(input)));
    }
    const TensorType &query = inputs[0], &value = inputs[1], &key = inputs[count - 1];
    if (query.shape[1] != key.shape[1] || key.shape[0] != value.shape[0]) {
      fail(
          fmt::format("needs keys with the channels of the query, one for each value, got the query {}, the key {} "
                      "and the value {}",
                      to_string(query), to_string(key), to_string(value)));
    }
    if (masked) check_mask(inputs.back(), query.shape[0], key.shape[0]);
    if (additive_ && scale_ && scale_->type.shape[0] != query.shape[1]) {
      fail(fmt::format("was built for {} channels, got {}", scale_->type.shape[0], to_string(query)));
    }
    return {{query.shape[0], value.shape[1]}, query.dtype};
  }

 private:
  const std::string& mode() const { return config().text("score_mode"); }

  void check_mask(const TensorType& mask, std::int64_t queries, std::int64_t keys) const {
    const bool fits = mask.shape == Shape{keys} || mask.shape == Shape{queries, keys} || mask.shape == Shape{1, keys};
    if (fits && mask.dtype != Dtype::bytes) return;
    fail(fmt::format("the mask must be [keys] or [queries, keys] per example with {} queries and {} keys, got {}",
                     queries, keys, to_string(mask)));
  }

  void make_variables(VariableFactory& factory, TensorTypes inputs) override {
    SeededLayer::make_variables(factory, inputs);
    const Shape shape = additive_ ? Shape{inputs[0].shape[1]} : Shape{};
    if (config().flag("use_scale")) {
      scale_ = make_variable(factory, "scale", shape, parse_initializer(additive_ ? "glorot_uniform" : "ones"));
    }
    if (!additive_ && mode() == "concat") {
      score_weight_ = make_variable(factory, "concat_score_weight", {}, parse_initializer("ones"));
    }
  }

  /// [batch, queries or 1, keys]
  static Value broad_mask(Graph& graph, Value mask) {
    Shape shape = graph.type(mask).shape;
    if (shape.size() == 2) shape.insert(shape.begin() + 1, 1);
    return ops::reshape(graph, ops::cast(graph, mask, Dtype::boolean), shape);
  }

  Value by_products(const CallContext& context, Value query, Value value, Value key, Value mask) const {
    Graph& graph = context.graph;
    if (scale_) query = ops::mul(graph, query, weight(context, scale_));
    const auto with_head = [&](Value x, std::size_t at) {
      Shape shape = graph.type(x).shape;
      shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(at), 1);
      return ops::reshape(graph, x, shape);
    };
    ops::AttentionInputs given{.query = with_head(query, 2), .key = with_head(key, 2), .value = with_head(value, 2)};
    if (mask) given.mask = with_head(mask, 1);
    AttentionOptions options{.causal = config().flag("use_causal_mask")};
    if (context.training && dropout_ > 0) {
      if (!context.step) fail("draws by the step counter in training, but this call has none");
      given.step = context.step;
      options.dropout = dropout_;
      options.first = context.first_row;
      options.seed = unused_seed(context, seed(), [](const Node& node) {
        const auto* const op = op_as<gpubench::Attention>(node);
        return op != nullptr ? &op->options.seed : nullptr;
      });
    }
    const Value y = ops::attention(graph, given, options);
    const Shape& shape = graph.type(y).shape;
    return ops::reshape(graph, y, {shape[0], shape[1], shape[3]});
  }

  Value by_sums(const CallContext& context, Value query, Value value, Value key, Value mask) const {
    Graph& graph = context.graph;
    const Shape from = graph.type(query).shape, to = graph.type(key).shape;
    Value sums = ops::add(graph, ops::reshape(graph, query, {from[0], from[1], 1, from[2]}),
                          ops::reshape(graph, key, {to[0], 1, to[1], to[2]}));
    if (!additive_ && scale_) sums = ops::mul(graph, sums, weight(context, scale_));
    Value terms = ops::tanh(graph, sums);
    if (additive_ && scale_) terms = ops::mul(graph, terms, weight(context, scale_));
    Value scores = ops::reduce_sum(graph, terms, {3});
    if (score_weight_) scores = ops::mul(graph, scores, weight(context, score_weight_));
    if (config().flag("use_causal_mask")) {
      const Value causal = earlier_keys(graph, from[1], to[1]);
      mask = mask ? ops::logical_and(graph, mask, causal) : causal;
    }
    const Dtype dtype = graph.type(scores).dtype;
    if (mask) {
      const double lowest = dtype == Dtype::f16 ? -65504 : -1e9;
      scores = ops::select(graph, mask, scores, ops::scalar(graph, lowest, dtype));
    }
    Value weights = ops::cast(graph, apply_activation(graph, "softmax", scores, policy()), dtype);
    if (context.training && dropout_ > 0) weights = dropped(*this, context, weights, dropout_, seed());
    return ops::matmul(graph, weights, value);
  }

  /// bool [1, queries, keys]: no key behind the query.
  static Value earlier_keys(Graph& graph, std::int64_t queries, std::int64_t keys) {
    HostTensor allowed(TensorType{{1, queries, keys}, Dtype::boolean});
    for (std::int64_t i = 0; i < queries * keys; ++i) {
      allowed.values<bool>()[static_cast<std::size_t>(i)] = i % keys <= i / keys;
    }
    return graph.constant(allowed);
  }

  Value apply(const CallContext& context, Values inputs) const override {
    return apply_all(context, {.inputs = inputs}).values.front();
  }

  /// As in Keras, the mask of the value leaves out keys, and that of the query makes results 0.
  LayerOutputs apply_all(const CallContext& context, const LayerArguments& given) const override {
    Graph& graph = context.graph;
    const Values inputs = given.inputs;
    const bool masked = !is_floating(graph.type(inputs.back()).dtype);
    Value mask = masked ? broad_mask(graph, inputs.back()) : Value{};
    if (const Value of_value = given.mask(1)) {
      expect_mask(*this, graph, of_value, inputs[1], 2);
      const Value kept = broad_mask(graph, of_value);
      mask = mask ? ops::logical_and(graph, mask, kept) : kept;
    }
    const Value key = inputs[inputs.size() - (masked ? 2 : 1)];
    const bool products = !additive_ && mode() == "dot";
    Value y = products ? by_products(context, inputs[0], inputs[1], key, mask)
                       : by_sums(context, inputs[0], inputs[1], key, mask);
    if (const Value of_query = given.mask(0)) {
      expect_mask(*this, graph, of_query, inputs[0], 2);
      y = kept_by(graph, of_query, y);
    }
    return {{y}, {}};
  }

  bool additive_;
  double dropout_;
  VariablePtr scale_, score_weight_;
};

}  // namespace

LayerKind attention() {
  std::vector<ConfigField> fields = ScoreAttention::fields(false);
  fields.insert(fields.begin() + 1, {"score_mode", std::string("dot")});
  return {"Attention", {"use_scale", "score_mode", "dropout"}, std::move(fields), &construct_layer<ScoreAttention>};
}

LayerKind additive_attention() {
  return {
      "AdditiveAttention", {"use_scale", "dropout"}, ScoreAttention::fields(true), &construct_layer<ScoreAttention>};
}

}  // namespace gpubench::nn
