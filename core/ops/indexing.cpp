#include "core/ops/indexing.h"

#include <algorithm>
#include <fmt/ranges.h>
#include <memory>
#include <numeric>

#include "core/ops/broadcast.h"
#include "core/ops/check.h"
#include "core/ops/elementwise.h"

namespace gpubench {

std::string OneHot::attributes() const {
  return fmt::format("depth={} dtype={}", depth, to_string(dtype));
}

std::vector<TensorType> OneHot::infer(TensorTypes inputs) const {
  ops::expect_count(name(), inputs, 1);
  ops::expect_integer(name(), "indices", inputs[0]);
  if (depth < 1) ops::refuse(name(), fmt::format("depth must be at least 1, got {}", depth));
  if (dtype == Dtype::bytes) ops::refuse(name(), "cannot make bytes");
  TensorType result{inputs[0].shape, dtype};
  result.shape.push_back(depth);
  return {std::move(result)};
}

std::vector<TensorType> Gather::infer(TensorTypes inputs) const {
  ops::expect_count(name(), inputs, 2);
  ops::expect_integer(name(), "indices", inputs[1]);
  if (inputs[0].rank() == 0) ops::refuse(name(), "a scalar has no rows");
  TensorType result{inputs[1].shape, inputs[0].dtype};
  result.shape.insert(result.shape.end(), inputs[0].shape.begin() + 1, inputs[0].shape.end());
  return {std::move(result)};
}

std::vector<Value> Gather::gradient(Graph& graph, Values inputs, Values, Values output_gradients) const {
  return {ops::gather_gradient(graph, output_gradients[0], inputs[1], graph.type(inputs[0]).shape[0]), Value{}};
}

double Gather::bytes(TensorTypes inputs, TensorTypes outputs) const {
  return static_cast<double>(inputs[1].bytes()) + 2.0 * static_cast<double>(outputs[0].bytes());
}

std::string GatherGradient::attributes() const {
  return fmt::format("rows={}", rows);
}

std::vector<TensorType> GatherGradient::infer(TensorTypes inputs) const {
  ops::expect_count(name(), inputs, 2);
  ops::expect_floating(name(), inputs[0]);
  ops::expect_integer(name(), "indices", inputs[1]);
  const Shape &dy = inputs[0].shape, &indices = inputs[1].shape;
  if (dy.size() < indices.size() || !std::equal(indices.begin(), indices.end(), dy.begin())) {
    ops::refuse(name(), fmt::format("the gradient {} does not start with the shape of the indices {}",
                                    to_string(inputs[0]), to_string(inputs[1])));
  }
  TensorType result{{rows}, inputs[0].dtype};
  result.shape.insert(result.shape.end(), dy.begin() + static_cast<std::ptrdiff_t>(indices.size()), dy.end());
  return {std::move(result)};
}

std::vector<Value> GatherGradient::gradient(Graph& graph, Values inputs, Values, Values output_gradients) const {
  return {ops::gather(graph, output_gradients[0], inputs[1]), Value{}};
}

double GatherGradient::flops(TensorTypes inputs, TensorTypes) const {
  return static_cast<double>(inputs[0].elements());
}

std::string FlatIndex::attributes() const {
  return fmt::format("extents=[{}] of={} first={}", fmt::join(extents, ", "), of, first);
}

std::vector<TensorType> FlatIndex::infer(TensorTypes inputs) const {
  ops::expect_count(name(), inputs, 1);
  ops::expect_integer(of, "indices", inputs[0]);
  if (extents.empty() || extents.size() > most_axes) {
    ops::refuse(of, fmt::format("an index names 1 to {} axes, got {}", most_axes, extents.size()));
  }
  const auto axes = static_cast<std::int64_t>(extents.size());
  if (inputs[0].rank() == 0 || inputs[0].shape.back() != axes) {
    ops::refuse(of, fmt::format("the last dimension of the indices {} must be {}, a place of each axis",
                                to_string(inputs[0]), axes));
  }
  return {{{inputs[0].shape.begin(), inputs[0].shape.end() - 1}, Dtype::i64}};
}

std::vector<TensorType> ScatterUpdate::infer(TensorTypes inputs) const {
  ops::expect_count(name(), inputs, 3);
  const TensorType &x = inputs[0], &indices = inputs[1];
  ops::expect_integer(name(), "indices", indices);
  if (x.rank() == 0) ops::refuse(name(), "a scalar has no rows");
  if (x.dtype == Dtype::bytes) ops::refuse(name(), "bytes cannot be updated");
  TensorType rows{indices.shape, x.dtype};
  rows.shape.insert(rows.shape.end(), x.shape.begin() + 1, x.shape.end());
  ops::expect_type(name(), "the updates", inputs[2], rows);
  return {x};
}

/// An update that a later one of the same row replaces has no gradient.
std::vector<Value> ScatterUpdate::gradient(Graph& graph, Values inputs, Values, Values output_gradients) const {
  const Value indices = inputs[1], dy = output_gradients[0];
  const TensorType places = graph.type(indices), updates = graph.type(inputs[2]);
  const Value zero = ops::scalar(graph, 0, updates.dtype);
  const Value dx = ops::scatter_update(graph, dy, indices, ops::broadcast_to(graph, zero, updates.shape));
  HostTensor order(TensorType{places.shape, Dtype::i64});
  std::iota(order.values<std::int64_t>().begin(), order.values<std::int64_t>().end(), 0);
  const Value number = graph.constant(std::move(order));
  const Value none = ops::broadcast_to(graph, ops::scalar(graph, 0, Dtype::i64), {graph.type(dy).shape[0]});
  const Value last = ops::gather(graph, ops::scatter_update(graph, none, indices, number), indices);
  Shape stretched = places.shape;
  stretched.resize(updates.shape.size(), 1);
  const Value stays = ops::reshape(graph, ops::equal(graph, last, number), std::move(stretched));
  return {dx, Value{}, ops::select(graph, stays, ops::gather(graph, dy, indices), zero)};
}

double ScatterUpdate::bytes(TensorTypes inputs, TensorTypes) const {
  return static_cast<double>(inputs[1].bytes()) + 2.0 * static_cast<double>(inputs[2].bytes());
}

namespace ops {

Value scatter_update(Graph& graph, Value x, Value indices, Value updates) {
  return graph.apply(std::make_shared<const ScatterUpdate>(), {x, indices, updates});
}
Value one_hot(Graph& graph, Value indices, std::int64_t depth, Dtype dtype) {
  return graph.apply(std::make_shared<const OneHot>(depth, dtype), {indices});
}
Value gather(Graph& graph, Value params, Value indices, Gather::Of of) {
  return graph.apply(std::make_shared<const Gather>(of), {params, indices});
}
Value gather_gradient(Graph& graph, Value dy, Value indices, std::int64_t rows) {
  return graph.apply(std::make_shared<const GatherGradient>(rows), {dy, indices});
}

}  // namespace ops
}  // namespace gpubench
