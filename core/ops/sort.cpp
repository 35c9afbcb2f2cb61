#include "core/ops/sort.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "core/ops/broadcast.h"
#include "core/ops/check.h"
#include "core/ops/elementwise.h"
#include "core/ops/indexing.h"
#include "core/ops/shape_ops.h"

namespace gpubench {

std::string Sort::attributes() const {
  return fmt::format("descending={} count={}", descending, count);
}

std::vector<TensorType> Sort::infer(TensorTypes inputs) const {
  ops::expect_count(name(), inputs, 1);
  ops::expect_numeric(name(), inputs[0]);
  if (inputs[0].rank() == 0) ops::refuse(name(), "a scalar has no order");
  TensorType values = inputs[0];
  std::int64_t& extent = values.shape.back();
  if (count < 0 || count > extent) {
    ops::refuse(name(), fmt::format("the first {} of {} elements are wanted", count, extent));
  }
  if (count > 0) extent = count;
  return {values, {values.shape, Dtype::i64}};
}

/// A place occurs once at most, so that the sum over its uses is one value.
std::vector<Value> Sort::gradient(Graph& graph, Values inputs, Values outputs, Values output_gradients) const {
  const TensorType x = graph.type(inputs[0]);
  if (x.elements() == 0) return {ops::broadcast_to(graph, ops::scalar(graph, 0, x.dtype), x.shape)};
  const std::int64_t extent = x.shape.back(), rows = x.elements() / extent;
  const std::int64_t kept = graph.type(outputs[1]).shape.back();
  HostTensor starts(TensorType{{rows, 1}, Dtype::i64});
  for (std::int64_t row = 0; row < rows; ++row) {
    starts.values<std::int64_t>()[static_cast<std::size_t>(row)] = row * extent;
  }
  const Value places = ops::reshape(graph, outputs[1], {rows, kept});
  const Value flat = ops::add(graph, places, graph.constant(std::move(starts)));
  const Value dy = ops::reshape(graph, output_gradients[0], {rows * kept});
  const Value dx = ops::gather_gradient(graph, dy, ops::reshape(graph, flat, {rows * kept}), x.elements());
  return {ops::reshape(graph, dx, x.shape)};
}

double Sort::flops(TensorTypes inputs, TensorTypes) const {
  const double extent = static_cast<double>(std::max<std::int64_t>(inputs[0].shape.back(), 2));
  return static_cast<double>(inputs[0].elements()) * std::log2(extent);
}

}  // namespace gpubench
