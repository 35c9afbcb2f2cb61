#include "core/ops/softmax.h"

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/ops/check.h"
#include "core/ops/elementwise.h"
#include "core/ops/reduce.h"

namespace gpubench {
namespace {

std::vector<TensorType> infer_forward(std::string_view op, TensorTypes inputs) {
  ops::expect_count(op, inputs, 1);
  ops::expect_floating(op, inputs[0]);
  if (inputs[0].rank() == 0) throw Error(fmt::format("{}: the input must be [..., classes], got a scalar", op));
  return {inputs[0]};
}

std::vector<TensorType> infer_softmax_gradient(std::string_view op, TensorTypes inputs) {
  ops::expect_count(op, inputs, 2);
  ops::expect_type(op, "the result", inputs[1], inputs[0]);
  return infer_forward(op, inputs.first(1));
}

/// The sums over the classes, [..., 1].
Value sum_of_classes(Graph& graph, Value x) {
  return ops::reduce_sum(graph, x, {-1}, true);
}

/// Symmetric in dy; of y: z (dy - sum(dy y)) - dy sum(z y).
std::vector<Value> of_softmax_gradient(const SimpleOpRow::Node& node) {
  Graph& graph = node.graph;
  const Value dy = node.inputs[0], y = node.inputs[1], z = node.gradients[0];
  const Value centered = ops::sub(graph, dy, sum_of_classes(graph, ops::mul(graph, dy, y)));
  const Value weighed = ops::mul(graph, dy, sum_of_classes(graph, ops::mul(graph, z, y)));
  return {ops::softmax_gradient(graph, z, y), ops::sub(graph, ops::mul(graph, z, centered), weighed)};
}

/// Of dy: z - sum(z exp(y)); of y: -z exp(y) sum(dy).
std::vector<Value> of_log_softmax_gradient(const SimpleOpRow::Node& node) {
  Graph& graph = node.graph;
  const Value z = node.gradients[0], weighed = ops::mul(graph, z, ops::exp(graph, node.inputs[1]));
  return {ops::sub(graph, z, sum_of_classes(graph, weighed)),
          ops::neg(graph, ops::mul(graph, weighed, sum_of_classes(graph, node.inputs[0])))};
}

}  // namespace

// Maximum, subtract, exp, sum, divide: five per element.
Softmax::Softmax()
    : SimpleOp({.name = "softmax",
                .infer = &infer_forward,
                .gradient =
                    [](const SimpleOpRow::Node& node) {
                      return std::vector{ops::softmax_gradient(node.graph, node.gradients[0], node.outputs[0])};
                    },
                .aliases = {{0, 0}},
                .block_form = BlockForm{},
                .flops_per_output = 5}) {}

SoftmaxGradient::SoftmaxGradient()
    : SimpleOp({.name = "softmax_gradient",
                .infer = &infer_softmax_gradient,
                .gradient = &of_softmax_gradient,
                .aliases = {{0, 0}, {0, 1}},
                .flops_per_output = 4}) {}

LogSoftmax::LogSoftmax()
    : SimpleOp({.name = "log_softmax",
                .infer = &infer_forward,
                .gradient =
                    [](const SimpleOpRow::Node& node) {
                      return std::vector{ops::log_softmax_gradient(node.graph, node.gradients[0], node.outputs[0])};
                    },
                .aliases = {{0, 0}},
                .block_form = BlockForm{},
                .flops_per_output = 5}) {}

LogSoftmaxGradient::LogSoftmaxGradient()
    : SimpleOp({.name = "log_softmax_gradient",
                .infer = &infer_softmax_gradient,
                .gradient = &of_log_softmax_gradient,
                .aliases = {{0, 0}, {0, 1}},
                .flops_per_output = 4}) {}

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
