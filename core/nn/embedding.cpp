// A row of a table for each token. The rows are taken from the variable and cast afterwards: casting the table would
// cost more than the whole layer where the vocabulary is larger than the batch.
#include <fmt/format.h>

#include "core/nn/layer_kind.h"
#include "core/ops/broadcast.h"
#include "core/ops/cast.h"
#include "core/ops/elementwise.h"
#include "core/ops/indexing.h"

namespace gpubench::nn {
namespace {

class Embedding final : public Layer {
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

  TensorType output_type(TensorTypes inputs) const override {
    if (inputs.size() != 1) fail(fmt::format("takes one input, got {}", inputs.size()));
    if (inputs[0].dtype == Dtype::bytes) {
      fail(fmt::format("expects numbers, tokens from 0 to {}, got {}", tokens_ - 1, to_string(inputs[0])));
    }
    TensorType output{inputs[0].shape, policy().compute};
    output.shape.push_back(width_);
    return output;
  }

 private:
  bool casts_inputs() const override { return false; }
  void make_variables(VariableFactory& factory, TensorTypes) override {
    table_ = make_variable(factory, "embeddings", {tokens_, width_},
                           parse_initializer(config().text("embeddings_initializer")));
  }

  Value apply(const CallContext& context, Values inputs) const override {
    Graph& graph = context.graph;
    const Value tokens = indices(graph, inputs[0]);
    const Value rows = ops::gather(graph, graph.variable(table_), tokens, gpubench::Gather::Of::tokens);
    return ops::cast(graph, rows, policy().compute);
  }

  /// Token 0 is padding.
  std::vector<Value> output_masks(const CallContext& context, const LayerArguments& given) const override {
    if (mask_rule() != MaskRule::makes) return {};
    const Dtype dtype = context.graph.type(given.inputs[0]).dtype;
    const Dtype compared = is_floating(dtype) ? dtype : Dtype::i64;
    const Value tokens = ops::cast(context.graph, given.inputs[0], compared);
    return {ops::not_equal(context.graph, tokens, ops::scalar(context.graph, 0, compared))};
  }

  std::int64_t tokens_, width_;
  VariablePtr table_;
};

}  // namespace

LayerKind embedding() {
  return {"Embedding",
          {"input_dim", "output_dim", "embeddings_initializer"},
          {{"input_dim", std::int64_t{0}, true},
           {"output_dim", std::int64_t{0}, true},
           {"embeddings_initializer", std::string("random_uniform")},
           {"mask_zero", false}},
          &construct_layer<Embedding>};
}

}  // namespace gpubench::nn
