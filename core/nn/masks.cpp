#include "core/nn/masks.h"

#include <algorithm>
#include <fmt/format.h>

#include "core/nn/layer_kind.h"
#include "core/ops/broadcast.h"
#include "core/ops/cast.h"
#include "core/ops/elementwise.h"
#include "core/ops/reduce.h"
#include "core/ops/shape_ops.h"

namespace gpubench::nn {

Value mask_beside(Graph& graph, Value mask, Value x) {
  Shape shape = graph.type(mask).shape;
  shape.resize(graph.type(x).shape.size(), 1);
  return ops::reshape(graph, mask, std::move(shape));
}

Value kept_by(Graph& graph, Value mask, Value x, double other) {
  return ops::select(graph, mask_beside(graph, mask, x), x, ops::scalar(graph, other, graph.type(x).dtype));
}

Value any_of_last(Graph& graph, Value bools) {
  const Value most = ops::reduce_max(graph, ops::cast(graph, bools, Dtype::f32), {-1});
  return ops::not_equal(graph, most, ops::scalar(graph, 0, Dtype::f32));
}

Value any_mask(Graph& graph, const std::vector<Value>& masks) {
  Value any;
  for (const Value mask : masks) {
    if (!mask) return {};
    any = any ? ops::logical_or(graph, any, mask) : mask;
  }
  return any;
}

void expect_mask(const Layer& layer, const Graph& graph, Value mask, Value x, std::size_t dimensions) {
  const Shape &given = graph.type(mask).shape, &shape = graph.type(x).shape;
  if (given.size() == dimensions && std::equal(given.begin(), given.end(), shape.begin())) return;
  layer.fail(fmt::format("the mask must be {} for an input {} of the batch, got {}",
                         to_string(Shape(shape.begin(), shape.begin() + static_cast<std::ptrdiff_t>(dimensions))),
                         to_string(shape), to_string(given)));
}

namespace {

/// Steps whose numbers are all mask_value are masked, and 0 behind the layer.
class Masking final : public Layer {
 public:
  using Layer::Layer;
  std::string default_name() const override { return "masking"; }
  MaskRule mask_rule() const override { return MaskRule::makes; }
  TensorType output_type(TensorTypes inputs) const override {
    const TensorType& input = only_input(inputs, -1, "[steps, features]");
    if (input.rank() < 1) fail(fmt::format("expects [..., features] per example, got {}", to_string(input)));
    return input;
  }

 private:
  Value kept(Graph& graph, Value x) const {
    const Value padding = ops::scalar(graph, config().number("mask_value"), graph.type(x).dtype);
    return any_of_last(graph, ops::not_equal(graph, x, padding));
  }
  Value apply(const CallContext& context, Values inputs) const override {
    return kept_by(context.graph, kept(context.graph, inputs[0]), inputs[0]);
  }
  LayerOutputs apply_all(const CallContext& context, const LayerArguments& given) const override {
    const Value mask = kept(context.graph, given.inputs[0]);
    return {{kept_by(context.graph, mask, given.inputs[0])}, {mask}};
  }
  std::vector<Value> output_masks(const CallContext& context, const LayerArguments& given) const override {
    return {kept(context.graph, given.inputs[0])};
  }
};

}  // namespace

LayerKind masking() {
  return {"Masking", {"mask_value"}, {{"mask_value", 0.0}}, &construct_layer<Masking>};
}

}  // namespace gpubench::nn
