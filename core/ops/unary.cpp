#include "core/ops/unary.h"

#include <fmt/format.h>
#include <memory>

#include "core/ops/binary.h"
#include "core/ops/broadcast.h"
#include "core/ops/check.h"

namespace gpubench {

std::vector<TensorType> UnaryOp::infer(std::span<const TensorType> inputs) const {
  ops::expect_count(name(), inputs, 1);
  check(inputs[0]);
  return {inputs[0]};
}

std::vector<Value> UnaryOp::gradient(Graph& graph, std::span<const Value> inputs, std::span<const Value> outputs,
                                     std::span<const Value> output_gradients) const {
  return {derivative(graph, inputs[0], outputs[0], output_gradients[0])};
}

double UnaryOp::flops(std::span<const TensorType>, std::span<const TensorType> outputs) const {
  return static_cast<double>(flops_per_element()) * static_cast<double>(outputs[0].elements());
}

void UnaryOp::check(const TensorType& type) const {
  ops::expect_floating(name(), type);
}

void Neg::check(const TensorType& type) const {
  ops::expect_numeric(name(), type);
}
void Abs::check(const TensorType& type) const {
  ops::expect_numeric(name(), type);
}
void Sign::check(const TensorType& type) const {
  ops::expect_numeric(name(), type);
}
void Square::check(const TensorType& type) const {
  ops::expect_numeric(name(), type);
}
void LogicalNot::check(const TensorType& type) const {
  if (type.dtype != Dtype::boolean) ops::refuse(name(), fmt::format("takes bool, got {}", to_string(type)));
}

Value Neg::derivative(Graph& graph, Value, Value, Value dy) const {
  return ops::neg(graph, dy);
}

Value Abs::derivative(Graph& graph, Value x, Value, Value dy) const {
  return ops::mul(graph, dy, ops::sign(graph, x));
}

Value Square::derivative(Graph& graph, Value x, Value, Value dy) const {
  const Value twice = ops::mul(graph, x, ops::scalar(graph, 2, graph.type(x).dtype));
  return ops::mul(graph, dy, twice);
}

Value Sqrt::derivative(Graph& graph, Value, Value y, Value dy) const {
  const Value half = ops::mul(graph, dy, ops::scalar(graph, 0.5, graph.type(y).dtype));
  return ops::div(graph, half, y);
}

Value Rsqrt::derivative(Graph& graph, Value, Value y, Value dy) const {
  const Value half = ops::mul(graph, dy, ops::scalar(graph, -0.5, graph.type(y).dtype));
  return ops::mul(graph, half, ops::mul(graph, y, ops::square(graph, y)));
}

Value Exp::derivative(Graph& graph, Value, Value y, Value dy) const {
  return ops::mul(graph, dy, y);
}

Value Log::derivative(Graph& graph, Value x, Value, Value dy) const {
  return ops::div(graph, dy, x);
}

Value Relu::derivative(Graph& graph, Value, Value y, Value dy) const {
  return ops::relu_gradient(graph, dy, y);
}

Value Sigmoid::derivative(Graph& graph, Value, Value y, Value dy) const {
  return ops::sigmoid_gradient(graph, dy, y);
}

Value Tanh::derivative(Graph& graph, Value, Value y, Value dy) const {
  return ops::tanh_gradient(graph, dy, y);
}

Value Gelu::derivative(Graph& graph, Value x, Value, Value dy) const {
  return ops::gelu_gradient(graph, dy, x);
}

Value GeluTanh::derivative(Graph& graph, Value x, Value, Value dy) const {
  return ops::gelu_tanh_gradient(graph, dy, x);
}

std::vector<TensorType> ActivationGradientOp::infer(std::span<const TensorType> inputs) const {
  ops::expect_count(name(), inputs, 2);
  ops::expect_floating(name(), inputs[0]);
  ops::expect_type(name(), "the second input", inputs[1], inputs[0]);
  return {inputs[0]};
}

double ActivationGradientOp::flops(std::span<const TensorType>, std::span<const TensorType> outputs) const {
  return static_cast<double>(flops_per_element()) * static_cast<double>(outputs[0].elements());
}

namespace ops {

Value neg(Graph& graph, Value x) {
  return graph.apply(std::make_shared<const Neg>(), {x});
}
Value abs(Graph& graph, Value x) {
  return graph.apply(std::make_shared<const Abs>(), {x});
}
Value sign(Graph& graph, Value x) {
  return graph.apply(std::make_shared<const Sign>(), {x});
}
Value square(Graph& graph, Value x) {
  return graph.apply(std::make_shared<const Square>(), {x});
}
Value sqrt(Graph& graph, Value x) {
  return graph.apply(std::make_shared<const Sqrt>(), {x});
}
Value rsqrt(Graph& graph, Value x) {
  return graph.apply(std::make_shared<const Rsqrt>(), {x});
}
Value exp(Graph& graph, Value x) {
  return graph.apply(std::make_shared<const Exp>(), {x});
}
Value log(Graph& graph, Value x) {
  return graph.apply(std::make_shared<const Log>(), {x});
}
Value floor(Graph& graph, Value x) {
  return graph.apply(std::make_shared<const Floor>(), {x});
}
Value relu(Graph& graph, Value x) {
  return graph.apply(std::make_shared<const Relu>(), {x});
}
Value sigmoid(Graph& graph, Value x) {
  return graph.apply(std::make_shared<const Sigmoid>(), {x});
}
Value tanh(Graph& graph, Value x) {
  return graph.apply(std::make_shared<const Tanh>(), {x});
}
Value gelu(Graph& graph, Value x) {
  return graph.apply(std::make_shared<const Gelu>(), {x});
}
Value gelu_tanh(Graph& graph, Value x) {
  return graph.apply(std::make_shared<const GeluTanh>(), {x});
}
Value logical_not(Graph& graph, Value x) {
  return graph.apply(std::make_shared<const LogicalNot>(), {x});
}
Value relu_gradient(Graph& graph, Value dy, Value y) {
  return graph.apply(std::make_shared<const ReluGradient>(), {dy, y});
}
Value sigmoid_gradient(Graph& graph, Value dy, Value y) {
  return graph.apply(std::make_shared<const SigmoidGradient>(), {dy, y});
}
Value tanh_gradient(Graph& graph, Value dy, Value y) {
  return graph.apply(std::make_shared<const TanhGradient>(), {dy, y});
}
Value gelu_gradient(Graph& graph, Value dy, Value x) {
  return graph.apply(std::make_shared<const GeluGradient>(), {dy, x});
}
Value gelu_tanh_gradient(Graph& graph, Value dy, Value x) {
  return graph.apply(std::make_shared<const GeluTanhGradient>(), {dy, x});
}

}  // namespace ops
}  // namespace gpubench
