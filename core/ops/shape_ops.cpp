#include "core/ops/shape_ops.h"

#include <algorithm>
#include <fmt/ranges.h>
#include <memory>

#include "core/ops/broadcast.h"
#include "core/ops/check.h"
#include "core/ops/reduce.h"

namespace gpubench {
namespace {

std::string list(const std::vector<std::int64_t>& numbers) {
  return fmt::format("[{}]", fmt::join(numbers, ", "));
}

std::string text_of(const SliceRange& range) {
  return fmt::format("begin={} end={} stride={}", list(range.begin), list(range.end), list(range.stride));
}

/// Where an index counted from either end lies; an end past the last element is the last.
std::int64_t absolute(std::int64_t index, std::int64_t extent) {
  return std::clamp<std::int64_t>(index < 0 ? index + extent : index, 0, extent);
}

ResolvedSlice resolve_slice(std::string_view op, const SliceRange& range, const TensorType& type) {
  const std::size_t named = range.begin.size();
  if (range.end.size() != named || (!range.stride.empty() && range.stride.size() != named)) {
    ops::refuse(op, fmt::format("begin, end and stride must be equally long, got {}", text_of(range)));
  }
  if (named > type.shape.size()) {
    ops::refuse(op, fmt::format("names {} dimensions of {}", named, to_string(type)));
  }
  ResolvedSlice result{Shape(type.shape.size(), 0), Shape(type.shape.size(), 1), type.shape};
  for (std::size_t i = 0; i < named; ++i) {
    const std::int64_t extent = type.shape[i], stride = range.stride.empty() ? 1 : range.stride[i];
    if (stride < 1) ops::refuse(op, fmt::format("strides must be at least 1, got {}", list(range.stride)));
    const std::int64_t begin = absolute(range.begin[i], extent), end = absolute(range.end[i], extent);
    result.begin[i] = begin;
    result.stride[i] = stride;
    result.shape[i] = end > begin ? (end - begin + stride - 1) / stride : 0;
  }
  return result;
}

}  // namespace

std::string Reshape::attributes() const {
  return "shape=" + list(shape);
}

std::vector<TensorType> Reshape::infer(std::span<const TensorType> inputs) const {
  ops::expect_count(name(), inputs, 1);
  const auto refuse = [&] {
    ops::refuse(name(), fmt::format("{} with {} elements cannot become {}", to_string(inputs[0]), inputs[0].elements(),
                                    to_string(shape)));
  };
  Shape result = shape;
  std::int64_t known = 1;
  std::int64_t* free = nullptr;
  for (std::int64_t& extent : result) {
    if (extent >= 0) {
      known *= extent;
    } else if (extent == -1 && free == nullptr) {
      free = &extent;
    } else {
      ops::refuse(name(), fmt::format("one extent may be -1, got {}", to_string(shape)));
    }
  }
  if (free != nullptr) {
    if (known == 0 || inputs[0].elements() % known != 0) refuse();
    *free = inputs[0].elements() / known;
  }
  if (element_count(result) != inputs[0].elements()) refuse();
  return {{std::move(result), inputs[0].dtype}};
}

std::vector<Value> Reshape::gradient(Graph& graph, std::span<const Value> inputs, std::span<const Value>,
                                     std::span<const Value> output_gradients) const {
  return {ops::reshape(graph, output_gradients[0], graph.type(inputs[0]).shape)};
}

std::string Transpose::attributes() const {
  return "permutation=" + list(permutation);
}

std::vector<std::int64_t> Transpose::order(const TensorType& type) const {
  const std::int64_t rank = type.rank();
  std::vector<std::int64_t> result = permutation;
  if (result.empty()) {
    for (std::int64_t i = rank; i > 0; --i) result.push_back(i - 1);
  }
  for (std::int64_t& axis : result) axis = axis < 0 ? axis + rank : axis;
  std::vector<std::int64_t> sorted = result;
  std::sort(sorted.begin(), sorted.end());
  for (std::int64_t i = 0; i < std::max(rank, static_cast<std::int64_t>(sorted.size())); ++i) {
    if (static_cast<std::int64_t>(sorted.size()) == rank && sorted[static_cast<std::size_t>(i)] == i) continue;
    ops::refuse(name(), fmt::format("{} is no order of the dimensions of {}", list(permutation), to_string(type)));
  }
  return result;
}

std::vector<TensorType> Transpose::infer(std::span<const TensorType> inputs) const {
  ops::expect_count(name(), inputs, 1);
  TensorType result{{}, inputs[0].dtype};
  for (const std::int64_t axis : order(inputs[0]))
    result.shape.push_back(inputs[0].shape[static_cast<std::size_t>(axis)]);
  return {std::move(result)};
}

std::vector<Value> Transpose::gradient(Graph& graph, std::span<const Value> inputs, std::span<const Value>,
                                       std::span<const Value> output_gradients) const {
  const std::vector<std::int64_t> forward = order(graph.type(inputs[0]));
  std::vector<std::int64_t> inverse(forward.size());
  for (std::size_t i = 0; i < forward.size(); ++i) {
    inverse[static_cast<std::size_t>(forward[i])] = static_cast<std::int64_t>(i);
  }
  return {ops::transpose(graph, output_gradients[0], std::move(inverse))};
}

std::string Slice::attributes() const {
  return text_of(range);
}

ResolvedSlice Slice::resolve(const TensorType& type) const {
  return resolve_slice(name(), range, type);
}

std::vector<TensorType> Slice::infer(std::span<const TensorType> inputs) const {
  ops::expect_count(name(), inputs, 1);
  return {{resolve(inputs[0]).shape, inputs[0].dtype}};
}

std::vector<Value> Slice::gradient(Graph& graph, std::span<const Value> inputs, std::span<const Value>,
                                   std::span<const Value> output_gradients) const {
  return {ops::slice_gradient(graph, output_gradients[0], graph.type(inputs[0]).shape, range)};
}

double Slice::bytes(std::span<const TensorType>, std::span<const TensorType> outputs) const {
  return 2.0 * static_cast<double>(outputs[0].bytes());
}

std::string SliceGradient::attributes() const {
  return fmt::format("input_shape={} {}", list(input_shape), text_of(range));
}

ResolvedSlice SliceGradient::resolve() const {
  return resolve_slice(name(), range, {input_shape, Dtype::f32});
}

std::vector<TensorType> SliceGradient::infer(std::span<const TensorType> inputs) const {
  ops::expect_count(name(), inputs, 1);
  ops::expect_type(name(), "the gradient", inputs[0], {resolve().shape, inputs[0].dtype});
  return {{input_shape, inputs[0].dtype}};
}

std::string Concat::attributes() const {
  return fmt::format("axis={}", axis);
}

std::vector<TensorType> Concat::infer(std::span<const TensorType> inputs) const {
  if (inputs.empty()) ops::refuse(name(), "needs at least one input");
  const auto along = static_cast<std::size_t>(ops::axis_index(name(), axis, inputs[0]));
  TensorType result = inputs[0];
  for (const TensorType& type : inputs.subspan(1)) {
    ops::expect_same_dtype(name(), inputs[0], type);
    bool fits = type.shape.size() == result.shape.size();
    for (std::size_t i = 0; fits && i < result.shape.size(); ++i) fits = i == along || type.shape[i] == result.shape[i];
    if (!fits) {
      ops::refuse(name(),
                  fmt::format("{} and {} differ in more than axis {}", to_string(inputs[0]), to_string(type), axis));
    }
    result.shape[along] += type.shape[along];
  }
  return {std::move(result)};
}

std::vector<Value> Concat::gradient(Graph& graph, std::span<const Value> inputs, std::span<const Value>,
                                    std::span<const Value> output_gradients) const {
  const auto along = static_cast<std::size_t>(ops::axis_index(name(), axis, graph.type(inputs[0])));
  std::vector<Value> result;
  std::int64_t offset = 0;
  for (const Value input : inputs) {
    SliceRange range{Shape(along + 1, 0), Shape(along + 1, SliceRange::to_end), {}};
    range.begin[along] = offset;
    offset += graph.type(input).shape[along];
    range.end[along] = offset;
    result.push_back(ops::slice(graph, output_gradients[0], std::move(range)));
  }
  return result;
}

std::string BroadcastTo::attributes() const {
  return "shape=" + list(shape);
}

std::vector<TensorType> BroadcastTo::infer(std::span<const TensorType> inputs) const {
  ops::expect_count(name(), inputs, 1);
  if (!ops::broadcasts_to(inputs[0].shape, shape)) {
    ops::refuse(name(), fmt::format("{} does not stretch to {}", to_string(inputs[0]), to_string(shape)));
  }
  return {{shape, inputs[0].dtype}};
}

std::vector<Value> BroadcastTo::gradient(Graph& graph, std::span<const Value> inputs, std::span<const Value>,
                                         std::span<const Value> output_gradients) const {
  return {ops::sum_to(graph, output_gradients[0], graph.type(inputs[0]).shape)};
}

namespace ops {

Value reshape(Graph& graph, Value x, Shape shape) {
  if (graph.type(x).shape == shape) return x;
  return graph.apply(std::make_shared<const Reshape>(std::move(shape)), {x});
}
Value transpose(Graph& graph, Value x, std::vector<std::int64_t> permutation) {
  return graph.apply(std::make_shared<const Transpose>(std::move(permutation)), {x});
}
Value slice(Graph& graph, Value x, SliceRange range) {
  return graph.apply(std::make_shared<const Slice>(std::move(range)), {x});
}
Value slice_gradient(Graph& graph, Value dy, Shape input_shape, SliceRange range) {
  return graph.apply(std::make_shared<const SliceGradient>(std::move(input_shape), std::move(range)), {dy});
}
Value concat(Graph& graph, std::span<const Value> parts, std::int64_t axis) {
  return graph.apply(std::make_shared<const Concat>(axis), parts);
}
Value broadcast_to(Graph& graph, Value x, Shape shape) {
  if (graph.type(x).shape == shape) return x;
  return graph.apply(std::make_shared<const BroadcastTo>(std::move(shape)), {x});
}

}  // namespace ops
}  // namespace gpubench
