// y = activation(x W + b) over the last dimension.
#include <fmt/format.h>

#include "core/nn/layer_kind.h"
#include "core/nn/linear_layer.h"
#include "core/ops/matmul.h"
#include "core/ops/quantized_linear.h"
#include "core/ops/shape_ops.h"

namespace gpubench::nn {
namespace {

class Dense final : public LinearLayer {
 public:
  static std::vector<ConfigField> fields() { return LinearLayer::fields({{"units", std::int64_t{0}, true}}); }
  Dense(Config config, DeviceId device) : LinearLayer(std::move(config), std::move(device), "units") {}
  std::string default_name() const override { return "dense"; }
  MaskRule mask_rule() const override { return MaskRule::passes; }

  TensorType output_type(TensorTypes inputs) const override {
    const TensorType& input = only_input(inputs, -1, "[features]");
    if (input.rank() < 1) fail(fmt::format("expects [..., features] per example, got {}", to_string(input)));
    if (kernel() && kernel()->type.shape[0] != input.shape.back()) {
      fail(fmt::format("was built for {} features, got {}", kernel()->type.shape[0], to_string(input)));
    }
    TensorType output = input;
    output.shape.back() = width();
    output.dtype = output_dtype();
    return output;
  }

 private:
  Shape kernel_shape(TensorTypes inputs) const override { return {inputs[0].shape.back(), width()}; }
  Value product(Graph& graph, Value x, Value kernel) const override { return ops::matmul(graph, x, kernel); }
  Value integer_product(Graph& graph, Value x, Value kernel, Value scale) const override {
    return ops::quantized_matmul(graph, x, kernel, scale);
  }

  Value apply(const CallContext& context, Values inputs) const override {
    Graph& graph = context.graph;
    Shape shape = graph.type(inputs[0]).shape;
    if (shape.size() == 2) return output_of(context, inputs[0]);
    const Value rows = ops::reshape(graph, inputs[0], {-1, shape.back()});
    shape.back() = width();
    if (activation().is_elementwise()) return ops::reshape(graph, output_of(context, rows), shape);
    // A function sees the whole shape, and a loss is fused with a softmax in front of it.
    return activation().apply(context, ops::reshape(graph, sums_of(context, rows), shape));
  }
};

}  // namespace

LayerKind dense() {
  return {"Dense", {"units"}, Dense::fields(), &construct_layer<Dense>};
}

}  // namespace gpubench::nn
