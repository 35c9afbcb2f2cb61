#include "core/ops/layer_norm.h"

#include <fmt/format.h>
#include <memory>

#include "core/graph/leaf_ops.h"
#include "core/ops/broadcast.h"
#include "core/ops/cast.h"
#include "core/ops/check.h"
#include "core/ops/elementwise.h"
#include "core/ops/shape_ops.h"

namespace gpubench {
namespace {

/// Checks x (input 0) and the parameters after it, each [channels] and all of x's type or of float32; returns their
/// type.
TensorType check_parameters(std::string_view op, TensorTypes inputs, std::initializer_list<std::string_view> names) {
  const TensorType& x = inputs[0];
  ops::expect_floating(op, x);
  if (x.rank() < 1) ops::refuse(op, fmt::format("the input must be [..., channels], got {}", to_string(x)));
  if (x.shape.back() == 0) {
    ops::refuse(op, fmt::format("the rows of {} have no value; at least one is needed", to_string(x)));
  }
  const bool wide = inputs[1].dtype == Dtype::f32;
  TensorType channels{{x.shape.back()}, wide ? Dtype::f32 : x.dtype};
  std::size_t index = 1;
  for (const std::string_view name : names) ops::expect_type(op, name, inputs[index++], channels);
  return channels;
}

/// One float32 number per row.
TensorType of_rows(const TensorType& x) {
  return {Shape(x.shape.begin(), x.shape.end() - 1), Dtype::f32};
}

double per_element(double count, const TensorType& type) {
  return count * static_cast<double>(type.elements());
}

/// `rows` [...] as [..., 1] in the type of x.
Value beside(Graph& graph, Value rows, Value x) {
  Shape shape = graph.type(rows).shape;
  shape.push_back(1);
  return ops::cast(graph, ops::reshape(graph, rows, shape), graph.type(x).dtype);
}

/// The gradient that reaches x through `inverse`: -inverse^3 (x - mean) / channels each.
Value through_inverse(Graph& graph, Value centered, Value inverse, Value gradient) {
  const Value cube = ops::mul(graph, inverse, ops::square(graph, inverse));
  const double share = -1.0 / static_cast<double>(graph.type(centered).shape.back());
  const Value each = ops::mul(graph, ops::mul(graph, cube, gradient), ops::scalar(graph, share, Dtype::f32));
  return ops::mul(graph, centered, beside(graph, each, centered));
}

Value sum_of(Graph& graph, const std::vector<Value>& parts) {
  return parts.size() == 1 ? parts[0] : graph.apply(std::make_shared<const AddN>(), parts);
}

std::vector<TensorType> infer_layer_norm_gradient(std::string_view op, TensorTypes inputs) {
  ops::expect_count(op, inputs, 5);
  const TensorType channels = check_parameters(op, inputs, {"gamma"});
  ops::expect_type(op, "the mean", inputs[2], of_rows(inputs[0]));
  ops::expect_type(op, "the inverse deviation", inputs[3], of_rows(inputs[0]));
  ops::expect_type(op, "the gradient", inputs[4], inputs[0]);
  return {inputs[0], channels, channels};
}

std::vector<TensorType> infer_rms_norm_gradient(std::string_view op, TensorTypes inputs) {
  ops::expect_count(op, inputs, 4);
  const TensorType channels = check_parameters(op, inputs, {"gamma"});
  ops::expect_type(op, "the inverse root", inputs[2], of_rows(inputs[0]));
  ops::expect_type(op, "the gradient", inputs[3], inputs[0]);
  return {inputs[0], channels};
}

}  // namespace

std::string LayerNorm::attributes() const {
  return fmt::format("epsilon={}", epsilon);
}

std::vector<TensorType> LayerNorm::infer(TensorTypes inputs) const {
  ops::expect_count(name(), inputs, 3);
  check_parameters(name(), inputs, {"gamma", "beta"});
  return {inputs[0], of_rows(inputs[0]), of_rows(inputs[0])};
}

std::vector<Value> LayerNorm::gradient(Graph& graph, Values inputs, Values outputs, Values output_gradients) const {
  const Value x = inputs[0], mean = outputs[1], inverse = outputs[2];
  std::vector<Value> result(3, zero_gradient), parts;
  if (output_gradients[0]) {
    const Value dx =
        graph.apply(std::make_shared<const LayerNormGradient>(), {x, inputs[1], mean, inverse, output_gradients[0]});
    parts.push_back(dx);
    result[1] = {dx.node, 1};
    result[2] = {dx.node, 2};
  }
  if (output_gradients[1]) {
    const double share = 1.0 / static_cast<double>(graph.type(x).shape.back());
    const Value each = ops::mul(graph, output_gradients[1], ops::scalar(graph, share, Dtype::f32));
    parts.push_back(ops::broadcast_to(graph, beside(graph, each, x), graph.type(x).shape));
  }
  if (output_gradients[2]) {
    const Value centered = ops::sub(graph, x, beside(graph, mean, x));
    parts.push_back(through_inverse(graph, centered, inverse, output_gradients[2]));
  }
  result[0] = sum_of(graph, parts);
  return result;
}

double LayerNorm::flops(TensorTypes inputs, TensorTypes) const {
  return per_element(7, inputs[0]);
}

LayerNormGradient::LayerNormGradient()
    : SimpleOp({.name = "layer_norm_gradient",
                .infer = &infer_layer_norm_gradient,
                .aliases = {{0, 4}, {0, 0}},
                .flops_per_input = 12}) {}

std::string RmsNorm::attributes() const {
  return fmt::format("epsilon={}", epsilon);
}

std::vector<TensorType> RmsNorm::infer(TensorTypes inputs) const {
  ops::expect_count(name(), inputs, 2);
  check_parameters(name(), inputs, {"gamma"});
  return {inputs[0], of_rows(inputs[0])};
}

std::vector<Value> RmsNorm::gradient(Graph& graph, Values inputs, Values outputs, Values output_gradients) const {
  std::vector<Value> result(2, zero_gradient), parts;
  if (output_gradients[0]) {
    const Value dx =
        graph.apply(std::make_shared<const RmsNormGradient>(), {inputs[0], inputs[1], outputs[1], output_gradients[0]});
    parts.push_back(dx);
    result[1] = {dx.node, 1};
  }
  if (output_gradients[1]) parts.push_back(through_inverse(graph, inputs[0], outputs[1], output_gradients[1]));
  result[0] = sum_of(graph, parts);
  return result;
}

double RmsNorm::flops(TensorTypes inputs, TensorTypes) const {
  return per_element(4, inputs[0]);
}

RmsNormGradient::RmsNormGradient()
    : SimpleOp({.name = "rms_norm_gradient",
                .infer = &infer_rms_norm_gradient,
                .aliases = {{0, 3}, {0, 0}},
                .flops_per_input = 9}) {}

namespace ops {

Value layer_norm(Graph& graph, Value x, Value gamma, Value beta, float epsilon) {
  return graph.apply(std::make_shared<const LayerNorm>(epsilon), {x, gamma, beta});
}

Value rms_norm(Graph& graph, Value x, Value gamma, float epsilon) {
  return graph.apply(std::make_shared<const RmsNorm>(epsilon), {x, gamma});
}

}  // namespace ops
}  // namespace gpubench
