// A row of a table for each token. The rows are taken from the variable and cast afterwards: casting the table would
// cost more than the whole layer where the vocabulary is larger than the batch. A ReversibleEmbedding has the product
// with the table too.
#include <fmt/format.h>

#include "core/nn/layer_kind.h"
#include "core/ops/broadcast.h"
#include "core/ops/cast.h"
#include "core/ops/elementwise.h"
#include "core/ops/indexing.h"
#include "core/ops/matmul.h"

namespace gpubench::nn {
namespace {

class Embedding : public Layer {
 public:
  Embedding(Config given, DeviceId device)
      : Layer(std::move(given), std::move(device)),
        tokens_(config().integer_from("input_dim", 1)),
        width_(config().integer_from("output_dim", 1)) {
    parse_initializer(config().text("embeddings_initializer"));
  }
  std::string default_name() const override { return "embedding"; }
  Channels channels() const override { return Channels::unknown; }
  MaskRule mask_rule() const override { return config().flag("mask_zero") ? MaskRule::makes : MaskRule::drops; }

  TensorType output_type(TensorTypes inputs) const final {
    if (inputs.size() != 1) fail(fmt::format("takes one input, got {}", inputs.size()));
    if (inputs[0].dtype == Dtype::bytes) {
      fail(fmt::format("expects numbers, tokens from 0 to {}, got {}", tokens_ - 1, to_string(inputs[0])));
    }
    TensorType output{inputs[0].shape, policy().compute};
    output.shape.push_back(width_);
    return output;
  }

 protected:
  bool casts_inputs() const final { return false; }
  void make_variables(VariableFactory& factory, TensorTypes) override {
    table_ = make_variable(factory, "embeddings", {tokens_, width_},
                           parse_initializer(config().text("embeddings_initializer")));
  }

  Value apply(const CallContext& context, Values inputs) const final {
    Graph& graph = context.graph;
    const Value tokens = indices(graph, inputs[0]);
    const Value rows = ops::gather(graph, graph.variable(table_), tokens, gpubench::Gather::Of::tokens);
    return ops::cast(graph, rows, policy().compute);
  }

  /// Token 0 is padding.
  std::vector<Value> output_masks(const CallContext& context, const LayerArguments& given) const override {
    if (mask_rule() != MaskRule::makes || given.reverse) return {};
    const Dtype dtype = context.graph.type(given.inputs[0]).dtype;
    const Dtype compared = is_floating(dtype) ? dtype : Dtype::i64;
    const Value tokens = ops::cast(context.graph, given.inputs[0], compared);
    return {ops::not_equal(context.graph, tokens, ops::scalar(context.graph, 0, compared))};
  }

  std::int64_t tokens_, width_;
  VariablePtr table_;
};

/// A call in reverse makes scores of all tokens, by the same table or, with tie_weights = false, by one of its own.
class ReversibleEmbedding final : public Embedding {
 public:
  ReversibleEmbedding(Config given, DeviceId device)
      : Embedding(std::move(given), std::move(device)), cap_(config().number("logit_soft_cap")) {
    const std::string& dtype = config().text("reverse_dtype");
    reverse_dtype_ = dtype.empty() ? policy().compute : parse_dtype(dtype);
    if (!is_floating(reverse_dtype_)) fail(fmt::format("reverse_dtype is a floating-point type, got '{}'", dtype));
    if (!(cap_ >= 0)) fail(fmt::format("logit_soft_cap is a number above 0, or 0 for none, got {}", cap_));
  }
  std::string default_name() const override { return "reversible_embedding"; }

 private:
  TensorType reverse_type(TensorTypes inputs) const override {
    const TensorType& input = only_input(inputs, -1, "[..., output_dim]");
    if (input.rank() < 1 || input.shape.back() != width_) {
      fail(fmt::format("in reverse expects [..., {}] per example, got {}", width_, to_string(input)));
    }
    TensorType output{input.shape, reverse_dtype_};
    output.shape.back() = tokens_;
    return output;
  }

  void make_variables(VariableFactory& factory, TensorTypes inputs) override {
    Embedding::make_variables(factory, inputs);
    if (config().flag("tie_weights")) return;
    own_ = make_variable(factory, "reverse_embeddings", {width_, tokens_},
                         parse_initializer(config().text("embeddings_initializer")));
  }

  LayerOutputs apply_all(const CallContext& context, const LayerArguments& given) const override {
    if (!given.reverse) return Embedding::apply_all(context, given);
    Graph& graph = context.graph;
    const Value hidden = ops::cast(graph, given.inputs[0], reverse_dtype_);
    const Value table = ops::cast(graph, weight(context, own_ ? own_ : table_), reverse_dtype_);
    Value scores = ops::matmul(graph, hidden, table, {.transpose_b = own_ == nullptr});
    if (cap_ > 0) {
      const Value cap = ops::scalar(graph, cap_, reverse_dtype_);
      scores = ops::mul(graph, ops::tanh(graph, ops::div(graph, scores, cap)), cap);
    }
    return {{scores}, {}};
  }

  double cap_;
  Dtype reverse_dtype_;
  VariablePtr own_;  // null: tied
};

std::vector<ConfigField> fields(std::vector<ConfigField> more = {}) {
  std::vector<ConfigField> all = {{"input_dim", std::int64_t{0}, true},
                                  {"output_dim", std::int64_t{0}, true},
                                  {"embeddings_initializer", std::string("random_uniform")},
                                  {"mask_zero", false}};
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

}  // namespace

LayerKind embedding() {
  return {"Embedding", {"input_dim", "output_dim", "embeddings_initializer"}, fields(), &construct_layer<Embedding>};
}

LayerKind reversible_embedding() {
  return {"ReversibleEmbedding",
          {"input_dim", "output_dim", "tie_weights", "embeddings_initializer"},
          fields({{"tie_weights", true}, {"reverse_dtype", std::string()}, {"logit_soft_cap", 0.0}}),
          &construct_layer<ReversibleEmbedding>};
}

}  // namespace gpubench::nn
