#include "core/ops/bias.h"

#include <fmt/format.h>
#include <memory>

#include "core/base/error.h"
#include "core/ops/check.h"
#include "core/ops/elementwise.h"
#include "core/ops/shape_ops.h"

namespace gpubench {
namespace {

void check_has_channels(std::string_view op, const TensorType& type) {
  ops::expect_floating(op, type);
  if (type.rank() == 0) throw Error(fmt::format("{}: the input must be [..., channels], got a scalar", op));
}

std::vector<TensorType> infer_bias_add(std::string_view op, TensorTypes inputs) {
  ops::expect_count(op, inputs, 2);
  check_has_channels(op, inputs[0]);
  ops::expect_type(op, "the bias", inputs[1], {{inputs[0].shape.back()}, inputs[0].dtype});
  return {inputs[0]};
}

std::vector<TensorType> infer_bias_gradient(std::string_view op, TensorTypes inputs) {
  ops::expect_count(op, inputs, 1);
  check_has_channels(op, inputs[0]);
  return {TensorType{{inputs[0].shape.back()}, inputs[0].dtype}};
}

std::vector<Value> of_bias_add(const SimpleOpRow::Node& node) {
  return {node.gradients[0], ops::bias_gradient(node.graph, node.gradients[0])};
}

std::vector<Value> of_bias_gradient(const SimpleOpRow::Node& node) {
  return {ops::broadcast_to(node.graph, node.gradients[0], node.graph.type(node.inputs[0]).shape)};
}

}  // namespace

// A block becomes an Add: each element of the block may have its own bias, which is not one number per channel.
BiasAdd::BiasAdd()
    : SimpleOp({.name = "bias_add",
                .infer = &infer_bias_add,
                .gradient = &of_bias_add,
                .aliases = {{0, 0}},
                .block_form = BlockForm{.inputs = BlockForm::Inputs::stretched, .op = std::make_shared<const Add>()}}) {
}

BiasGradient::BiasGradient()
    : SimpleOp({.name = "bias_gradient",
                .infer = &infer_bias_gradient,
                .gradient = &of_bias_gradient,
                .flops_per_input = 1}) {}

namespace ops {

Value bias_add(Graph& graph, Value x, Value bias) {
  return graph.apply(std::make_shared<const BiasAdd>(), {x, bias});
}

Value bias_gradient(Graph& graph, Value dy) {
  return graph.apply(std::make_shared<const BiasGradient>(), {dy});
}

}  // namespace ops
}  // namespace gpubench
