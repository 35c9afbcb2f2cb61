#include "core/ops/softmax.h"

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/ops/check.h"
#include "core/ops/elementwise.h"
#include "core/ops/reduce.h"

namespace gpubench {
namespace {

std::vector<TensorType> infer_forward(std::string_view op, std::span<const TensorType> inputs) {
  ops::expect_count(op, inputs, 1);
  ops::expect_floating(op, inputs[0]);
  if (inputs[0].rank() == 0) throw Error(fmt::format("{}: the input must be [..., classes], got a scalar", op));
  return {inputs[0]};
}

std::vector<TensorType> infer_softmax_gradient(std::string_view op, std::span<const TensorType> inputs) {
  ops::expect_count(op, inputs, 2);
  ops::expect_type(op, "the result", inputs[1], inputs[0]);
  return infer_forward(op, inputs.first(1));
}

std::vector<Alias> overwrites_either() {
  return {{0, 0, Alias::Kind::may_overwrite}, {0, 1, Alias::Kind::may_overwrite}};
}

/// The sums over the classes, [..., 1].
Value sum_of_classes(Graph& graph, Value x) {
  return ops::reduce_sum(graph, x, {-1}, true);
}

double softmax_flops(double count, std::span<const TensorType> outputs) {
  return count * static_cast<double>(outputs[0].elements());
}

}  // namespace

std::vector<TensorType> Softmax::infer(std::span<const TensorType> inputs) const {
  return infer_forward(name(), inputs);
}

std::vector<Value> Softmax::gradient(Graph& graph, std::span<const Value>, std::span<const Value> outputs,
                                     std::span<const Value> output_gradients) const {
  return {ops::softmax_gradient(graph, output_gradients[0], outputs[0])};
}

double Softmax::flops(std::span<const TensorType>, std::span<const TensorType> outputs) const {
  return softmax_flops(5, outputs);
}

std::vector<TensorType> SoftmaxGradient::infer(std::span<const TensorType> inputs) const {
  return infer_softmax_gradient(name(), inputs);
}

/// Symmetric in dy; of y: z (dy - sum(dy y)) - dy sum(z y).
std::vector<Value> SoftmaxGradient::gradient(Graph& graph, std::span<const Value> inputs, std::span<const Value>,
                                             std::span<const Value> output_gradients) const {
  const Value dy = inputs[0], y = inputs[1], z = output_gradients[0];
  const Value centered = ops::sub(graph, dy, sum_of_classes(graph, ops::mul(graph, dy, y)));
  const Value weighed = ops::mul(graph, dy, sum_of_classes(graph, ops::mul(graph, z, y)));
  return {ops::softmax_gradient(graph, z, y), ops::sub(graph, ops::mul(graph, z, centered), weighed)};
}

std::vector<Alias> SoftmaxGradient::aliases() const {
  return overwrites_either();
}

double SoftmaxGradient::flops(std::span<const TensorType>, std::span<const TensorType> outputs) const {
  return softmax_flops(4, outputs);
}

std::vector<TensorType> LogSoftmax::infer(std::span<const TensorType> inputs) const {
  return infer_forward(name(), inputs);
}

std::vector<Value> LogSoftmax::gradient(Graph& graph, std::span<const Value>, std::span<const Value> outputs,
                                        std::span<const Value> output_gradients) const {
  return {ops::log_softmax_gradient(graph, output_gradients[0], outputs[0])};
}

double LogSoftmax::flops(std::span<const TensorType>, std::span<const TensorType> outputs) const {
  return softmax_flops(5, outputs);
}

std::vector<TensorType> LogSoftmaxGradient::infer(std::span<const TensorType> inputs) const {
  return infer_softmax_gradient(name(), inputs);
}

/// Of dy: z - sum(z exp(y)); of y: -z exp(y) sum(dy).
std::vector<Value> LogSoftmaxGradient::gradient(Graph& graph, std::span<const Value> inputs, std::span<const Value>,
                                                std::span<const Value> output_gradients) const {
  const Value z = output_gradients[0], weighed = ops::mul(graph, z, ops::exp(graph, inputs[1]));
  return {ops::sub(graph, z, sum_of_classes(graph, weighed)),
          ops::neg(graph, ops::mul(graph, weighed, sum_of_classes(graph, inputs[0])))};
}

std::vector<Alias> LogSoftmaxGradient::aliases() const {
  return overwrites_either();
}

double LogSoftmaxGradient::flops(std::span<const TensorType>, std::span<const TensorType> outputs) const {
  return softmax_flops(4, outputs);
}

namespace ops {

Value softmax(Graph& graph, Value x) {
  return graph.apply(std::make_shared<const Softmax>(), {x});
}

Value softmax_gradient(Graph& graph, Value dy, Value y) {
  return graph.apply(std::make_shared<const SoftmaxGradient>(), {dy, y});
}

Value log_softmax_gradient(Graph& graph, Value dy, Value y) {
  return graph.apply(std::make_shared<const LogSoftmaxGradient>(), {dy, y});
}

}  // namespace ops
}  // namespace gpubench
