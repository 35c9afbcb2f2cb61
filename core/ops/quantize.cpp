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

template <bool simulated>
std::vector<TensorType> infer_quantize(std::string_view op, TensorTypes inputs) {
  ops::expect_count(op, inputs, 2);
  expect_scaled(op, inputs[0], inputs[1]);
  return {{inputs[0].shape, simulated ? Dtype::f32 : Dtype::i8}};
}

std::vector<TensorType> infer_quantize_gradient(std::string_view op, TensorTypes inputs) {
  ops::expect_count(op, inputs, 3);
  expect_scaled(op, inputs[1], inputs[2]);
  ops::expect_type(op, "the gradient", inputs[0], inputs[1]);
  return {inputs[1]};
}

/// The gradient `dy` of a tensor that was quantized from x.
Value through_steps(Graph& graph, Value dy, Value x, Value scale) {
  return graph.apply(std::make_shared<const FakeQuantizeGradient>(), {dy, x, scale});
}

}  // namespace

Quantize::Quantize() : SimpleOp({.name = "quantize", .infer = &infer_quantize<false>}) {}

// Division, rounding, two limits and a multiplication.
FakeQuantize::FakeQuantize()
    : SimpleOp({.name = "fake_quantize",
                .infer = &infer_quantize<true>,
                .gradient =
                    [](const SimpleOpRow::Node& node) {
                      return std::vector{through_steps(node.graph, node.gradients[0], node.inputs[0], node.inputs[1]),
                                         zero_gradient};
                    },
                .aliases = {{0, 0}},
                .flops_per_output = 5}) {}

FakeQuantizeGradient::FakeQuantizeGradient()
    : SimpleOp({.name = "fake_quantize_gradient",
                .infer = &infer_quantize_gradient,
                .gradient =
                    [](const SimpleOpRow::Node& node) {
                      return std::vector{through_steps(node.graph, node.gradients[0], node.inputs[1], node.inputs[2]),
                                         zero_gradient, zero_gradient};
                    },
                .aliases = {{0, 0}, {0, 1}}}) {}

namespace ops {

Value quantize(Graph& graph, Value x, Value scale) {
  return graph.apply(std::make_shared<const Quantize>(), {x, scale});
}

Value fake_quantize(Graph& graph, Value x, Value scale) {
  return graph.apply(std::make_shared<const FakeQuantize>(), {x, scale});
}

}  // namespace ops
}  // namespace gpubench
