#include "core/ops/shape_ops.h"

#include <algorithm>
#include <array>
#include <fmt/ranges.h>
#include <memory>

#include "core/graph/leaf_ops.h"
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

/// The shape of `count` elements of a type.
Shape of_block(const TensorType& element, std::int64_t count) {
  Shape shape = element.shape;
  shape.insert(shape.begin(), count);
  return shape;
}

/// The position of an index that may count from the end.
std::int64_t absolute(std::int64_t index, std::int64_t extent) {
  if (index == SliceRange::to_end) return extent;
  return index < 0 ? index + extent : index;
}

/// The bounds of one dimension as scripts write them: numbered from 1, the last one included.
struct WrittenBounds {
  std::int64_t first, last;
};

WrittenBounds written(std::int64_t begin, std::int64_t end) {
  return {begin < 0 || begin == SliceRange::to_end ? begin : begin + 1, end == SliceRange::to_end ? -1
                                                                        : end >= 0                ? end
                                                                                                  : end - 1};
}

/// A range may end behind the last element, as in Python, but begins at one.
void expect_inside(std::string_view op, std::int64_t begin, std::int64_t end, std::int64_t extent,
                   std::size_t dimension) {
  const std::int64_t from = absolute(begin, extent), to = absolute(end, extent);
  const bool whole = begin == 0 && end == SliceRange::to_end, nothing = begin == end;
  const auto [first, last] = written(begin, end);
  const auto outside = [&](std::int64_t index) {
    ops::refuse(op, fmt::format("index {} is out of range: dimension {} has {} element{}, numbered from 1", index,
                                dimension + 1, extent, extent == 1 ? "" : "s"));
  };
  if (whole) return;
  if (from < 0 || from > extent || (from == extent && !nothing)) outside(first);
  if (to < 0 || (to == 0 && !nothing && end < 0)) outside(last);
  if (to <= from && !nothing) ops::refuse(op, fmt::format("the range {{{}, {}}} holds nothing", first, last));
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
    expect_inside(op, range.begin[i], range.end[i], extent, i);
    const std::int64_t begin = absolute(range.begin[i], extent), end = std::min(absolute(range.end[i], extent), extent);
    result.begin[i] = begin;
    result.stride[i] = stride;
    result.shape[i] = end > begin ? (end - begin - 1) / stride + 1 : 0;
  }
  return result;
}

}  // namespace

std::string Reshape::attributes() const {
  return "shape=" + list(shape);
}

std::vector<TensorType> Reshape::infer(TensorTypes inputs) const {
  ops::expect_count(name(), inputs, 1);
  const auto refuse = [&] {
    ops::refuse(name(), fmt::format("{} with {} elements cannot become {}", to_string(inputs[0]), inputs[0].elements(),
                                    to_string(shape)));
  };
  TensorType result{shape, inputs[0].dtype};
  std::int64_t* free = nullptr;
  for (std::int64_t& extent : result.shape) {
    if (extent >= 0) continue;
    if (extent != -1 || free != nullptr)
      ops::refuse(name(), fmt::format("one extent may be -1, got {}", to_string(shape)));
    extent = 1;
    free = &extent;
  }
  check_size(result, name());
  const std::int64_t known = result.elements();
  if (free != nullptr) {
    if (known == 0 || inputs[0].elements() % known != 0) refuse();
    *free = inputs[0].elements() / known;
  }
  if (result.elements() != inputs[0].elements()) refuse();
  return {std::move(result)};
}

std::vector<Value> Reshape::gradient(Graph& graph, Values inputs, Values, Values output_gradients) const {
  return {ops::reshape(graph, output_gradients[0], graph.type(inputs[0]).shape)};
}

std::optional<BlockForm> Reshape::block_form(std::span<const BlockInput> inputs, std::int64_t count) const {
  return BlockForm{.op = std::make_shared<const Reshape>(of_block(infer(std::array{inputs[0].element})[0], count))};
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

std::vector<TensorType> Transpose::infer(TensorTypes inputs) const {
  ops::expect_count(name(), inputs, 1);
  TensorType result{{}, inputs[0].dtype};
  for (const std::int64_t axis : order(inputs[0]))
    result.shape.push_back(inputs[0].shape[static_cast<std::size_t>(axis)]);
  return {std::move(result)};
}

std::vector<Value> Transpose::gradient(Graph& graph, Values inputs, Values, Values output_gradients) const {
  const std::vector<std::int64_t> forward = order(graph.type(inputs[0]));
  std::vector<std::int64_t> inverse(forward.size());
  for (std::size_t i = 0; i < forward.size(); ++i) {
    inverse[static_cast<std::size_t>(forward[i])] = static_cast<std::int64_t>(i);
  }
  return {ops::transpose(graph, output_gradients[0], std::move(inverse))};
}

std::optional<BlockForm> Transpose::block_form(std::span<const BlockInput> inputs, std::int64_t) const {
  std::vector<std::int64_t> shifted{0};
  for (const std::int64_t axis : order(inputs[0].element)) shifted.push_back(axis + 1);
  return BlockForm{.op = std::make_shared<const Transpose>(std::move(shifted))};
}

std::string Slice::attributes() const {
  return text_of(range);
}

ResolvedSlice Slice::resolve(const TensorType& type) const {
  return resolve_slice(name(), range, type);
}

std::vector<TensorType> Slice::infer(TensorTypes inputs) const {
  ops::expect_count(name(), inputs, 1);
  return {{resolve(inputs[0]).shape, inputs[0].dtype}};
}

std::vector<Value> Slice::gradient(Graph& graph, Values inputs, Values, Values output_gradients) const {
  return {ops::slice_gradient(graph, output_gradients[0], graph.type(inputs[0]).shape, range)};
}

std::optional<BlockForm> Slice::block_form(std::span<const BlockInput>, std::int64_t) const {
  SliceRange shifted = range;
  shifted.begin.insert(shifted.begin.begin(), 0);
  shifted.end.insert(shifted.end.begin(), SliceRange::to_end);
  if (!shifted.stride.empty()) shifted.stride.insert(shifted.stride.begin(), 1);
  return BlockForm{.op = std::make_shared<const Slice>(std::move(shifted))};
}

double Slice::bytes(TensorTypes, TensorTypes outputs) const {
  return 2.0 * static_cast<double>(outputs[0].bytes());
}

std::string SliceGradient::attributes() const {
  return fmt::format("input_shape={} {}", list(input_shape), text_of(range));
}

ResolvedSlice SliceGradient::resolve() const {
  return resolve_slice(name(), range, {input_shape, Dtype::f32});
}

std::vector<TensorType> SliceGradient::infer(TensorTypes inputs) const {
  ops::expect_count(name(), inputs, 1);
  ops::expect_type(name(), "the gradient", inputs[0], {resolve().shape, inputs[0].dtype});
  return {{input_shape, inputs[0].dtype}};
}

std::vector<Value> SliceGradient::gradient(Graph& graph, Values, Values, Values output_gradients) const {
  return {ops::slice(graph, output_gradients[0], range)};
}

std::string Concat::attributes() const {
  return fmt::format("axis={}", axis);
}

std::vector<TensorType> Concat::infer(TensorTypes inputs) const {
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

std::vector<Value> Concat::gradient(Graph& graph, Values inputs, Values, Values output_gradients) const {
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

std::optional<BlockForm> Concat::block_form(std::span<const BlockInput> inputs, std::int64_t) const {
  return BlockForm{.op = std::make_shared<const Concat>(ops::axis_index(name(), axis, inputs[0].element) + 1)};
}

std::string BroadcastTo::attributes() const {
  return "shape=" + list(shape);
}

std::vector<TensorType> BroadcastTo::infer(TensorTypes inputs) const {
  ops::expect_count(name(), inputs, 1);
  if (!ops::broadcasts_to(inputs[0].shape, shape)) {
    ops::refuse(name(), fmt::format("{} does not stretch to {}", to_string(inputs[0]), to_string(shape)));
  }
  return {{shape, inputs[0].dtype}};
}

std::vector<Value> BroadcastTo::gradient(Graph& graph, Values inputs, Values, Values output_gradients) const {
  return {ops::sum_to(graph, output_gradients[0], graph.type(inputs[0]).shape)};
}

std::optional<BlockForm> BroadcastTo::block_form(std::span<const BlockInput>, std::int64_t count) const {
  return BlockForm{.inputs = BlockForm::Inputs::stretched,
                   .op = std::make_shared<const BroadcastTo>(of_block({shape, Dtype::f32}, count))};
}

std::string Reverse::attributes() const {
  return fmt::format("axes=[{}]", fmt::join(axes, ", "));
}

std::vector<bool> Reverse::reversed(const TensorType& type) const {
  std::vector<bool> flags(type.shape.size());
  for (const std::int64_t axis : axes) {
    const auto index = static_cast<std::size_t>(ops::axis_index(name(), axis, type));
    if (flags[index]) ops::refuse(name(), fmt::format("axis {} is given twice in [{}]", axis, fmt::join(axes, ", ")));
    flags[index] = true;
  }
  return flags;
}

std::vector<TensorType> Reverse::infer(TensorTypes inputs) const {
  ops::expect_count(name(), inputs, 1);
  reversed(inputs[0]);
  return {inputs[0]};
}

std::vector<Value> Reverse::gradient(Graph& graph, Values, Values, Values output_gradients) const {
  return {graph.apply(std::make_shared<const Reverse>(axes), {output_gradients[0]})};
}

std::optional<BlockForm> Reverse::block_form(std::span<const BlockInput> inputs, std::int64_t) const {
  std::vector<std::int64_t> shifted;
  for (const std::int64_t axis : axes) shifted.push_back(ops::axis_index(name(), axis, inputs[0].element) + 1);
  return BlockForm{.op = std::make_shared<const Reverse>(std::move(shifted))};
}

std::vector<TensorType> StopGradient::infer(TensorTypes inputs) const {
  ops::expect_count(name(), inputs, 1);
  return {inputs[0]};
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
Value pad(Graph& graph, Value x, Shape before, Shape after) {
  const Shape inner = graph.type(x).shape;
  before.resize(inner.size());
  after.resize(inner.size());
  Shape outer = inner;
  SliceRange range{before, inner, {}};
  for (std::size_t i = 0; i < inner.size(); ++i) {
    range.end[i] += before[i];
    outer[i] += before[i] + after[i];
  }
  return slice_gradient(graph, x, std::move(outer), std::move(range));
}
Value concat(Graph& graph, Values parts, std::int64_t axis) {
  return graph.apply(std::make_shared<const Concat>(axis), parts);
}
Value batch_part(Graph& graph, Value x, std::int64_t index, std::int64_t parts) {
  constexpr std::size_t tensor_alignment = 64;  // that backends are promised
  if (parts == 1) return x;
  auto part = std::make_shared<const BatchPart>(index, parts);
  const TensorType whole = graph.type(x), type = part->infer(std::span(&whole, 1))[0];
  if (view_offset(*part, type) % tensor_alignment == 0) return graph.apply(std::move(part), {x});
  const std::int64_t rows = type.shape[0];
  return slice(graph, x, {.begin = {index * rows}, .end = {(index + 1) * rows}, .stride = {}});
}
Value broadcast_to(Graph& graph, Value x, Shape shape) {
  if (graph.type(x).shape == shape) return x;
  return graph.apply(std::make_shared<const BroadcastTo>(std::move(shape)), {x});
}

}  // namespace ops
}  // namespace gpubench
