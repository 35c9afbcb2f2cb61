#include "core/ops/reduce.h"

#include <cassert>
#include <fmt/ranges.h>
#include <memory>

#include "core/ops/broadcast.h"
#include "core/ops/cast.h"
#include "core/ops/check.h"
#include "core/ops/elementwise.h"
#include "core/ops/shape_ops.h"

namespace gpubench {
namespace {

/// Each element that equals the extremum gets its share of dy.
Value share_among_equals(Graph& graph, Value x, Value y, Value dy, const ReductionOp& op) {
  const Value equal = ops::cast(graph, ops::equal(graph, x, y), graph.type(dy).dtype);
  const Value count = ops::reduce_sum(graph, equal, op.axes, true);
  return ops::mul(graph, equal, ops::div(graph, dy, count));
}

}  // namespace

std::string ReductionOp::attributes() const {
  return fmt::format("axes=[{}] keepdims={}", fmt::join(axes, ", "), keepdims);
}

std::vector<bool> ReductionOp::reduced(const TensorType& type) const {
  std::vector<bool> flags(type.shape.size(), axes.empty());
  for (const std::int64_t axis : axes) {
    const auto index = static_cast<std::size_t>(ops::axis_index(name(), axis, type));
    if (flags[index]) ops::refuse(name(), fmt::format("axis {} is given twice in [{}]", axis, fmt::join(axes, ", ")));
    flags[index] = true;
  }
  return flags;
}

std::vector<TensorType> ReductionOp::infer(TensorTypes inputs) const {
  ops::expect_count(name(), inputs, 1);
  check(inputs[0]);
  const std::vector<bool> flags = reduced(inputs[0]);
  TensorType result{{}, inputs[0].dtype};
  for (std::size_t i = 0; i < flags.size(); ++i) {
    if (!flags[i]) {
      result.shape.push_back(inputs[0].shape[i]);
    } else if (keepdims) {
      result.shape.push_back(1);
    }
  }
  return {result};
}

std::vector<Value> ReductionOp::gradient(Graph& graph, Values inputs, Values outputs, Values output_gradients) const {
  const TensorType type = graph.type(inputs[0]);
  const std::vector<bool> flags = reduced(type);
  Shape kept = type.shape;
  for (std::size_t i = 0; i < flags.size(); ++i) {
    if (flags[i]) kept[i] = 1;
  }
  const Value y = ops::reshape(graph, outputs[0], kept), dy = ops::reshape(graph, output_gradients[0], kept);
  return {derivative(graph, inputs[0], y, dy)};
}

double ReductionOp::flops(TensorTypes inputs, TensorTypes) const {
  return static_cast<double>(inputs[0].elements());
}

std::optional<BlockForm> ReductionOp::block_form(std::span<const BlockInput> inputs, std::int64_t) const {
  const std::vector<bool> flags = reduced(inputs[0].element);
  std::vector<std::int64_t> shifted;
  for (std::size_t i = 0; i < flags.size(); ++i) {
    if (flags[i]) shifted.push_back(static_cast<std::int64_t>(i) + 1);
  }
  if (shifted.empty()) return std::nullopt;  // of a number: no axes would mean all of the block's
  return BlockForm{.op = over(std::move(shifted))};
}

void ReductionOp::check(const TensorType& type) const {
  ops::expect_numeric(name(), type);
}

void ReduceMean::check(const TensorType& type) const {
  ops::expect_floating(name(), type);
}

Value ReduceSum::derivative(Graph& graph, Value x, Value, Value dy) const {
  return ops::broadcast_to(graph, dy, graph.type(x).shape);
}

Value ReduceMean::derivative(Graph& graph, Value x, Value y, Value dy) const {
  const TensorType type = graph.type(x);
  const double count = static_cast<double>(type.elements()) / static_cast<double>(graph.type(y).elements());
  const Value scaled = ops::mul(graph, dy, ops::scalar(graph, 1.0 / count, type.dtype));
  return ops::broadcast_to(graph, scaled, type.shape);
}

Value ReduceMax::derivative(Graph& graph, Value x, Value y, Value dy) const {
  return share_among_equals(graph, x, y, dy, *this);
}

Value ReduceMin::derivative(Graph& graph, Value x, Value y, Value dy) const {
  return share_among_equals(graph, x, y, dy, *this);
}

std::string ArgMax::attributes() const {
  return fmt::format("axis={}", axis);
}

std::vector<TensorType> ArgMax::infer(TensorTypes inputs) const {
  ops::expect_count(name(), inputs, 1);
  ops::expect_numeric(name(), inputs[0]);
  const int index = ops::axis_index(name(), axis, inputs[0]);
  if (inputs[0].shape[static_cast<std::size_t>(index)] == 0) ops::refuse(name(), "the axis is empty");
  TensorType result{inputs[0].shape, Dtype::i64};
  result.shape.erase(result.shape.begin() + index);
  return {result};
}

std::optional<BlockForm> ArgMax::block_form(std::span<const BlockInput> inputs, std::int64_t) const {
  return BlockForm{.op = std::make_shared<const ArgMax>(ops::axis_index(name(), axis, inputs[0].element) + 1)};
}

double ArgMax::flops(TensorTypes inputs, TensorTypes) const {
  return static_cast<double>(inputs[0].elements());
}

std::string Cumsum::attributes() const {
  return fmt::format("axis={} reverse={}", axis, reverse);
}

std::vector<TensorType> Cumsum::infer(TensorTypes inputs) const {
  ops::expect_count(name(), inputs, 1);
  ops::expect_numeric(name(), inputs[0]);
  ops::axis_index(name(), axis, inputs[0]);
  return {inputs[0]};
}

std::vector<Value> Cumsum::gradient(Graph& graph, Values, Values, Values output_gradients) const {
  return {graph.apply(std::make_shared<const Cumsum>(axis, !reverse), {output_gradients[0]})};
}

std::optional<BlockForm> Cumsum::block_form(std::span<const BlockInput> inputs, std::int64_t) const {
  return BlockForm{.op = std::make_shared<const Cumsum>(ops::axis_index(name(), axis, inputs[0].element) + 1, reverse)};
}

namespace ops {

Value reduce_sum(Graph& graph, Value x, std::vector<std::int64_t> axes, bool keepdims) {
  return graph.apply(std::make_shared<const ReduceSum>(std::move(axes), keepdims), {x});
}
Value reduce_mean(Graph& graph, Value x, std::vector<std::int64_t> axes, bool keepdims) {
  return graph.apply(std::make_shared<const ReduceMean>(std::move(axes), keepdims), {x});
}
Value reduce_max(Graph& graph, Value x, std::vector<std::int64_t> axes, bool keepdims) {
  return graph.apply(std::make_shared<const ReduceMax>(std::move(axes), keepdims), {x});
}

Value sum_to(Graph& graph, Value value, Shape shape) {
  const Shape from = graph.type(value).shape;
  if (from == shape) return value;
  assert(broadcasts_to(shape, from));
  const std::size_t extra = from.size() - shape.size();
  std::vector<std::int64_t> axes;
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (i < extra || (shape[i - extra] == 1 && from[i] != 1)) axes.push_back(static_cast<std::int64_t>(i));
  }
  return reshape(graph, axes.empty() ? value : reduce_sum(graph, value, std::move(axes)), shape);
}

}  // namespace ops
}  // namespace gpubench
