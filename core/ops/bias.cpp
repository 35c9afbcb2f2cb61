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

}  // namespace

std::vector<TensorType> BiasAdd::infer(std::span<const TensorType> inputs) const {
  ops::expect_count(name(), inputs, 2);
  check_has_channels(name(), inputs[0]);
  ops::expect_type(name(), "the bias", inputs[1], {{inputs[0].shape.back()}, inputs[0].dtype});
  return {inputs[0]};
}

std::optional<BlockForm> BiasAdd::block_form(std::span<const BlockInput>, std::int64_t) const {
  return BlockForm{.inputs = BlockForm::Inputs::stretched, .op = std::make_shared<const Add>()};
}

std::vector<Value> BiasAdd::gradient(Graph& graph, std::span<const Value>, std::span<const Value>,
                                     std::span<const Value> output_gradients) const {
  return {output_gradients[0], ops::bias_gradient(graph, output_gradients[0])};
}

std::vector<TensorType> BiasGradient::infer(std::span<const TensorType> inputs) const {
  ops::expect_count(name(), inputs, 1);
  check_has_channels(name(), inputs[0]);
  return {TensorType{{inputs[0].shape.back()}, inputs[0].dtype}};
}

std::vector<Value> BiasGradient::gradient(Graph& graph, std::span<const Value> inputs, std::span<const Value>,
                                          std::span<const Value> output_gradients) const {
  return {ops::broadcast_to(graph, output_gradients[0], graph.type(inputs[0]).shape)};
}

double BiasGradient::flops(std::span<const TensorType> inputs, std::span<const TensorType>) const {
  return static_cast<double>(inputs[0].elements());
}

namespace ops {

Value bias_add(Graph& graph, Value x, Value bias) {
  return graph.apply(std::make_shared<const BiasAdd>(), {x, bias});
}

Value bias_gradient(Graph& graph, Value dy) {
  return graph.apply(std::make_shared<const BiasGradient>(), {dy});
}

}  // namespace ops
}  // namespace gpubench
