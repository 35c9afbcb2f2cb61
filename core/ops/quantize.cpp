#include "core/ops/quantize.h"

#include <fmt/format.h>
#include <memory>

#include "core/ops/check.h"

namespace gpubench {
namespace {

void expect_scaled(std::string_view op, const TensorType& x, const TensorType& scale) {
  if (x.dtype != Dtype::f32) ops::refuse(op, fmt::format("takes float32, got {}", to_string(x)));
  const bool one = scale.shape.empty(), each = x.rank() > 0 && scale.shape == Shape{x.shape.back()};
  if (scale.dtype == Dtype::f32 && (one || each)) return;
  ops::refuse(op, fmt::format("the scale of {} must be float32, one number or one for each of the last dimension, "
                              "got {}",
                              to_string(x), to_string(scale)));
}

}  // namespace

std::vector<TensorType> Quantize::infer(std::span<const TensorType> inputs) const {
  ops::expect_count(name(), inputs, 2);
  expect_scaled(name(), inputs[0], inputs[1]);
  return {{inputs[0].shape, Dtype::i8}};
}

std::vector<TensorType> FakeQuantize::infer(std::span<const TensorType> inputs) const {
  ops::expect_count(name(), inputs, 2);
  expect_scaled(name(), inputs[0], inputs[1]);
  return {inputs[0]};
}

std::vector<Value> FakeQuantize::gradient(Graph& graph, std::span<const Value> inputs, std::span<const Value>,
                                          std::span<const Value> output_gradients) const {
  return {
      graph.apply(std::make_shared<const FakeQuantizeGradient>(), {output_gradients[0], inputs[0], inputs[1]}),
      zero_gradient,
  };
}

double FakeQuantize::flops(std::span<const TensorType>, std::span<const TensorType> outputs) const {
  return 5.0 * static_cast<double>(outputs[0].elements());
}

std::vector<TensorType> FakeQuantizeGradient::infer(std::span<const TensorType> inputs) const {
  ops::expect_count(name(), inputs, 3);
  expect_scaled(name(), inputs[1], inputs[2]);
  ops::expect_type(name(), "the gradient", inputs[0], inputs[1]);
  return {inputs[1]};
}

std::vector<Value> FakeQuantizeGradient::gradient(Graph& graph, std::span<const Value> inputs, std::span<const Value>,
                                                  std::span<const Value> output_gradients) const {
  return {graph.apply(std::make_shared<const FakeQuantizeGradient>(), {output_gradients[0], inputs[1], inputs[2]}),
          zero_gradient, zero_gradient};
}

namespace ops {

Value quantize(Graph& graph, Value x, Value scale) {
  return graph.apply(std::make_shared<const Quantize>(), {x, scale});
}

Value fake_quantize(Graph& graph, Value x, Value scale) {
  return graph.apply(std::make_shared<const FakeQuantize>(), {x, scale});
}

}  // namespace ops
}  // namespace gpubench
