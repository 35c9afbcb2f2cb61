#include "core/ops/binary.h"

#include <fmt/format.h>
#include <memory>

#include "core/ops/broadcast.h"
#include "core/ops/check.h"
#include "core/ops/reduce.h"
#include "core/ops/unary.h"

namespace gpubench {
namespace {

/// d where the condition holds, else 0.
Value where(Graph& graph, Value condition, Value d) {
  return ops::select(graph, condition, d, ops::scalar(graph, 0, graph.type(d).dtype));
}

}  // namespace

std::vector<TensorType> ArithmeticOp::infer(std::span<const TensorType> inputs) const {
  ops::expect_count(name(), inputs, 2);
  ops::expect_same_dtype(name(), inputs[0], inputs[1]);
  check(inputs[0]);
  return {{ops::broadcast_shapes(name(), inputs[0].shape, inputs[1].shape), inputs[0].dtype}};
}

std::vector<Value> ArithmeticOp::gradient(Graph& graph, std::span<const Value> inputs, std::span<const Value> outputs,
                                          std::span<const Value> output_gradients) const {
  const auto [da, db] = derivatives(graph, inputs[0], inputs[1], outputs[0], output_gradients[0]);
  const auto back = [&](Value d, Value input) { return d ? ops::sum_to(graph, d, graph.type(input).shape) : d; };
  return {back(da, inputs[0]), back(db, inputs[1])};
}

void ArithmeticOp::check(const TensorType& type) const {
  ops::expect_numeric(name(), type);
}

void Div::check(const TensorType& type) const {
  ops::expect_floating(name(), type);
}

void Pow::check(const TensorType& type) const {
  ops::expect_floating(name(), type);
}

std::array<Value, 2> Add::derivatives(Graph&, Value, Value, Value, Value dc) const {
  return {dc, dc};
}

std::array<Value, 2> Sub::derivatives(Graph& graph, Value, Value, Value, Value dc) const {
  return {dc, ops::neg(graph, dc)};
}

std::array<Value, 2> Mul::derivatives(Graph& graph, Value a, Value b, Value, Value dc) const {
  return {ops::mul(graph, dc, b), ops::mul(graph, dc, a)};
}

std::array<Value, 2> Div::derivatives(Graph& graph, Value, Value b, Value c, Value dc) const {
  const Value da = ops::div(graph, dc, b);
  return {da, ops::neg(graph, ops::mul(graph, da, c))};
}

std::array<Value, 2> Pow::derivatives(Graph& graph, Value a, Value b, Value c, Value dc) const {
  const Dtype dtype = graph.type(a).dtype;
  const Value less_one = ops::sub(graph, b, ops::scalar(graph, 1, dtype));
  const Value da = ops::mul(graph, b, ops::pow(graph, a, less_one));
  const Value positive = ops::greater(graph, a, ops::scalar(graph, 0, dtype));
  const Value safe = ops::select(graph, positive, a, ops::scalar(graph, 1, dtype));  // log(1) is 0
  const Value db = ops::mul(graph, c, ops::log(graph, safe));
  return {ops::mul(graph, dc, da), ops::mul(graph, dc, db)};
}

/// c = a - floor(a / b) b.
std::array<Value, 2> FloorMod::derivatives(Graph& graph, Value a, Value b, Value, Value dc) const {
  const Value times = graph.apply(std::make_shared<const FloorDiv>(), {a, b});
  return {dc, ops::neg(graph, ops::mul(graph, dc, times))};
}

std::array<Value, 2> Maximum::derivatives(Graph& graph, Value a, Value b, Value, Value dc) const {
  return {where(graph, ops::greater_equal(graph, a, b), dc), where(graph, ops::less(graph, a, b), dc)};
}

std::array<Value, 2> Minimum::derivatives(Graph& graph, Value a, Value b, Value, Value dc) const {
  return {where(graph, ops::less_equal(graph, a, b), dc), where(graph, ops::greater(graph, a, b), dc)};
}

std::vector<TensorType> ComparisonOp::infer(std::span<const TensorType> inputs) const {
  ops::expect_count(name(), inputs, 2);
  ops::expect_same_dtype(name(), inputs[0], inputs[1]);
  if (inputs[0].dtype == Dtype::bytes) ops::refuse(name(), "bytes cannot be compared");
  return {{ops::broadcast_shapes(name(), inputs[0].shape, inputs[1].shape), Dtype::boolean}};
}

std::vector<TensorType> LogicalOp::infer(std::span<const TensorType> inputs) const {
  ops::expect_count(name(), inputs, 2);
  for (const TensorType& type : inputs) {
    if (type.dtype != Dtype::boolean) ops::refuse(name(), fmt::format("takes bool, got {}", to_string(type)));
  }
  return {{ops::broadcast_shapes(name(), inputs[0].shape, inputs[1].shape), Dtype::boolean}};
}

std::vector<TensorType> Select::infer(std::span<const TensorType> inputs) const {
  ops::expect_count(name(), inputs, 3);
  if (inputs[0].dtype != Dtype::boolean) {
    ops::refuse(name(), fmt::format("the condition must be bool, got {}", to_string(inputs[0])));
  }
  ops::expect_same_dtype(name(), inputs[1], inputs[2]);
  const Shape values = ops::broadcast_shapes(name(), inputs[1].shape, inputs[2].shape);
  return {{ops::broadcast_shapes(name(), inputs[0].shape, values), inputs[1].dtype}};
}

std::vector<Value> Select::gradient(Graph& graph, std::span<const Value> inputs, std::span<const Value>,
                                    std::span<const Value> output_gradients) const {
  const Value dc = output_gradients[0];
  const Value zero = ops::scalar(graph, 0, graph.type(dc).dtype);
  const Value da = ops::select(graph, inputs[0], dc, zero), db = ops::select(graph, inputs[0], zero, dc);
  return {Value{}, ops::sum_to(graph, da, graph.type(inputs[1]).shape),
          ops::sum_to(graph, db, graph.type(inputs[2]).shape)};
}

namespace ops {

Value add(Graph& graph, Value a, Value b) {
  return graph.apply(std::make_shared<const Add>(), {a, b});
}
Value sub(Graph& graph, Value a, Value b) {
  return graph.apply(std::make_shared<const Sub>(), {a, b});
}
Value mul(Graph& graph, Value a, Value b) {
  return graph.apply(std::make_shared<const Mul>(), {a, b});
}
Value div(Graph& graph, Value a, Value b) {
  return graph.apply(std::make_shared<const Div>(), {a, b});
}
Value pow(Graph& graph, Value a, Value b) {
  return graph.apply(std::make_shared<const Pow>(), {a, b});
}
Value maximum(Graph& graph, Value a, Value b) {
  return graph.apply(std::make_shared<const Maximum>(), {a, b});
}
Value minimum(Graph& graph, Value a, Value b) {
  return graph.apply(std::make_shared<const Minimum>(), {a, b});
}
Value equal(Graph& graph, Value a, Value b) {
  return graph.apply(std::make_shared<const Equal>(), {a, b});
}
Value not_equal(Graph& graph, Value a, Value b) {
  return graph.apply(std::make_shared<const NotEqual>(), {a, b});
}
Value less(Graph& graph, Value a, Value b) {
  return graph.apply(std::make_shared<const Less>(), {a, b});
}
Value less_equal(Graph& graph, Value a, Value b) {
  return graph.apply(std::make_shared<const LessEqual>(), {a, b});
}
Value greater(Graph& graph, Value a, Value b) {
  return graph.apply(std::make_shared<const Greater>(), {a, b});
}
Value greater_equal(Graph& graph, Value a, Value b) {
  return graph.apply(std::make_shared<const GreaterEqual>(), {a, b});
}
Value logical_and(Graph& graph, Value a, Value b) {
  return graph.apply(std::make_shared<const LogicalAnd>(), {a, b});
}
Value logical_or(Graph& graph, Value a, Value b) {
  return graph.apply(std::make_shared<const LogicalOr>(), {a, b});
}
Value select(Graph& graph, Value condition, Value a, Value b) {
  return graph.apply(std::make_shared<const Select>(), {condition, a, b});
}

}  // namespace ops
}  // namespace gpubench
