// Sorting, and what is read and written at places that tensors hold. Places of slices, updates and scattered values
// become numbers of rows of a tensor whose first dimensions are merged; gather and scatter_update work on these.
#include <algorithm>
#include <array>
#include <fmt/ranges.h>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "core/ops/broadcast.h"
#include "core/ops/cast.h"
#include "core/ops/check.h"
#include "core/ops/elementwise.h"
#include "core/ops/indexing.h"
#include "core/ops/shape_ops.h"
#include "core/ops/sort.h"
#include "lua/api/tensor/numbers.h"
#include "lua/api/tensor/ops.h"
#include "lua/api/tensor/shape.h"

namespace gpubench::lua {
namespace {

/// The values and places of an axis in order.
std::vector<Tensor> ordered(lua_State* L, const char* name, const Tensor& x, std::optional<std::int64_t> axis,
                            bool descending, std::int64_t count) {
  ops::expect_numeric(name, x.type());
  const int along = ops::axis_index(name, axis.value_or(-1), x.type()), rank = x.type().rank();
  const Tensor rows = permuted(L, x, axis_last(rank, along));
  const OpPtr op = std::make_shared<const Sort>(descending, count);
  std::vector<Tensor> results = world_of(L).dispatcher.apply(op, std::array{rows});
  for (Tensor& result : results) result = permuted(L, result, axis_back(rank, along));
  return results;
}

Tensor sort(lua_State* L, const Tensor& x, std::optional<std::int64_t> axis) {
  return ordered(L, "sort", x, axis, false, 0)[0];
}

Tensor argsort(lua_State* L, const Tensor& x, std::optional<std::int64_t> axis) {
  return ordered(L, "argsort", x, axis, false, 0)[1];
}

std::tuple<Tensor, Tensor> top_k(lua_State* L, const Tensor& x, std::int64_t k) {
  const int last = ops::axis_index("top_k", -1, x.type());
  const std::int64_t extent = read_extent(L, x, static_cast<std::size_t>(last));
  if (k < 1 || k > extent) {
    throw ArgumentError(fmt::format("the largest {} of {} elements; 1 to {} are possible", k, extent, extent));
  }
  const std::vector<Tensor> results = ordered(L, "top_k", x, -1, true, k);
  return {results[0], results[1]};
}

Tensor whole_numbers(lua_State* L, Shape shape, const std::vector<std::int64_t>& values) {
  return world_of(L).dispatcher.constant(HostTensor::of<std::int64_t>(std::move(shape), values));
}

Tensor as_int64(lua_State* L, const char* name, const Tensor& x) {
  ops::expect_integer(name, "indices", x.type());
  return x.type().dtype == Dtype::i64 ? x : of<Cast>(L, x, Dtype::i64);
}

std::int64_t product(const Shape& shape, std::size_t begin, std::size_t end) {
  return element_count(std::span(shape).subspan(begin, end - begin));
}

/// x with its first dimensions merged.
Tensor merged(lua_State* L, const Tensor& x, std::size_t count) {
  const Shape& shape = x.type().shape;
  Shape rows{product(shape, 0, count)};
  rows.insert(rows.end(), shape.begin() + static_cast<std::ptrdiff_t>(count), shape.end());
  return of<Reshape>(L, x, rows);
}

/// Where a slice begins: a number or a scalar for each axis, or one tensor with all of them.
using Start = std::variant<Tensor, std::vector<std::variant<std::int64_t, Tensor>>>;

/// A block of a tensor, which begins at numbers that are known, or at tensors'.
class Block {
 public:
  Block(lua_State* L, const char* name, const Tensor& x, const Start& start, Shape lengths)
      : L_(L), name_(name), extents_(x.type().shape), lengths_(std::move(lengths)), known_(extents_.size(), 0) {
    const std::size_t rank = extents_.size();
    if (rank == 0) throw ArgumentError("a scalar has no places");
    read_start(start);
    if (lengths_.size() != rank) {
      throw ArgumentError(
          fmt::format("{} sizes for {}, which has {} dimensions", lengths_.size(), to_string(x.type()), rank));
    }
    for (std::size_t axis = 0; axis < rank; ++axis) check_axis(axis);
    for (axes_ = rank; axes_ > 1 && is_whole(axes_ - 1);) --axes_;
    if (axes_ > FlatIndex::most_axes) {
      throw ArgumentError(fmt::format("blocks of up to {} dimensions are possible", FlatIndex::most_axes));
    }
  }

  const Shape& lengths() const { return lengths_; }
  /// How many of the first dimensions have places.
  std::size_t axes() const { return axes_; }

  /// Where all numbers are known.
  std::optional<SliceRange> range() const {
    if (moving()) return std::nullopt;
    SliceRange found{known_, known_, {}};
    for (std::size_t axis = 0; axis < known_.size(); ++axis) found.end[axis] += lengths_[axis];
    return found;
  }

  /// The number of each row of the merged first dimensions, one behind the other.
  Tensor rows() const {
    Shape shape(lengths_.begin(), lengths_.begin() + static_cast<std::ptrdiff_t>(axes_));
    const std::int64_t count = element_count(shape);
    std::vector<std::int64_t> places;
    places.reserve(static_cast<std::size_t>(count) * axes_);
    for (std::int64_t i = 0; i < count; ++i) {
      std::int64_t rest = i;
      places.resize(places.size() + axes_);
      for (std::size_t axis = axes_; axis-- > 0; rest /= lengths_[axis]) {
        places[places.size() - axes_ + axis] = known_[axis] + rest % lengths_[axis];
      }
    }
    const auto width = static_cast<std::int64_t>(axes_);
    Tensor all = whole_numbers(L_, {count, width}, places);
    if (vector_)
      all = of_both<Add>(L_, all, width == vector_->type().shape[0] ? *vector_ : part(L_, *vector_, 0, 0, width));
    for (const auto& [axis, scalar] : scalars_) {
      if (axis >= axes_) continue;
      std::vector<std::int64_t> unit(axes_, 0);
      unit[axis] = 1;
      all = of_both<Add>(L_, all, of_both<Mul>(L_, whole_numbers(L_, {width}, unit), scalar));
    }
    Shape extents(extents_.begin(), extents_.begin() + static_cast<std::ptrdiff_t>(axes_));
    return of<FlatIndex>(L_, all, std::move(extents), std::string(name_));
  }

 private:
  bool moving() const { return vector_.has_value() || !scalars_.empty(); }

  bool moves(std::size_t axis) const {
    return vector_ || std::ranges::any_of(scalars_, [axis](const auto& one) { return one.first == axis; });
  }

  bool is_whole(std::size_t axis) const { return !moves(axis) && lengths_[axis] == extents_[axis]; }

  void read_start(const Start& start) {
    const std::size_t rank = extents_.size();
    if (const auto* const tensor = std::get_if<Tensor>(&start)) {
      const TensorType type = tensor->type();
      if (type.shape != Shape{static_cast<std::int64_t>(rank)}) {
        throw ArgumentError(
            fmt::format("the start {} must be a number for each of the {} dimensions", to_string(type), rank));
      }
      vector_ = as_int64(L_, name_, *tensor);
      return;
    }
    const auto& list = std::get<1>(start);
    if (list.size() != rank) {
      throw ArgumentError(fmt::format("the start has {} numbers, for {} dimensions", list.size(), rank));
    }
    for (std::size_t axis = 0; axis < rank; ++axis) {
      if (const auto* const number = std::get_if<std::int64_t>(&list[axis])) {
        known_[axis] = *number;
        continue;
      }
      const Tensor& scalar = std::get<Tensor>(list[axis]);
      if (scalar.type().elements() != 1) {
        throw ArgumentError(
            fmt::format("the start of axis {} must be one number, got {}", axis, to_string(scalar.type())));
      }
      scalars_.emplace_back(axis, of<Reshape>(L_, as_int64(L_, name_, scalar), Shape{1}));
    }
  }

  void check_axis(std::size_t axis) {
    const std::int64_t extent = extents_[axis];
    if (lengths_[axis] == -1 && !moves(axis)) lengths_[axis] = extent - known_[axis];
    const bool inside = known_[axis] >= 0 && lengths_[axis] >= 0 && lengths_[axis] <= extent - known_[axis];
    if (inside) return;
    const std::string from = moves(axis) ? "" : fmt::format(" from place {} on", known_[axis]);
    throw ArgumentError(fmt::format("{} elements{} are not possible: axis {} has {}, counted from 0", lengths_[axis],
                                    from, axis, extent));
  }

  lua_State* L_;
  const char* name_;
  Shape extents_, lengths_, known_;
  std::optional<Tensor> vector_;
  std::vector<std::pair<std::size_t, Tensor>> scalars_;  // by axis
  std::size_t axes_ = 0;
};

Tensor slice(lua_State* L, const Tensor& x, const Start& start, Shape shape) {
  const Block block(L, "slice", x, start, std::move(shape));
  if (const auto range = block.range()) return of<Slice>(L, x, *range);
  return of<Reshape>(L, of_both<Gather>(L, merged(L, x, block.axes()), block.rows()), block.lengths());
}

Tensor slice_update(lua_State* L, const Tensor& x, const Start& start, const Tensor& updates) {
  const Block block(L, "slice_update", x, start, updates.type().shape);
  const std::array inputs{merged(L, x, block.axes()), block.rows(), merged(L, updates, block.axes())};
  return of<Reshape>(L, apply<ScatterUpdate>(L, inputs), x.type().shape);
}

/// The numbers of the rows of a tensor of `shape` that indices [..., n] name by its first n dimensions, one behind the
/// other; and n.
std::pair<Tensor, std::size_t> rows_named_by(lua_State* L, const char* name, const Tensor& indices, const Shape& shape,
                                             const TensorType& values) {
  const TensorType& type = indices.type();
  const std::int64_t axes = type.shape.empty() ? 0 : type.shape.back();
  if (axes < 1 || axes > std::ssize(shape)) {
    throw ArgumentError(
        fmt::format("the last dimension of the indices {} is the number of axes that they name, 1 to {}",
                    to_string(type), shape.size()));
  }
  Shape expected(type.shape.begin(), type.shape.end() - 1);
  expected.insert(expected.end(), shape.begin() + axes, shape.end());
  if (values.shape != expected) {
    throw ArgumentError(fmt::format("indices {} into {} need values of the shape {}, got {}", to_string(type),
                                    to_string(shape), to_string(expected), to_string(values)));
  }
  const Tensor flat = of<FlatIndex>(L, indices, Shape(shape.begin(), shape.begin() + axes), std::string(name));
  return {of<Reshape>(L, flat, Shape{-1}), static_cast<std::size_t>(axes)};
}

/// Each value is added at its place of a tensor of zeros.
Tensor scatter(lua_State* L, const Tensor& indices, const Tensor& values, const Shape& shape) {
  if (!is_floating(values.type().dtype)) {
    throw ArgumentError(
        fmt::format("values {} are added in floating-point; cast them to float32", to_string(values.type())));
  }
  if (std::ranges::any_of(shape, [](std::int64_t extent) { return extent < 0; })) {
    throw ArgumentError(fmt::format("the shape {} has a negative extent", to_string(shape)));
  }
  const auto [rows, axes] = rows_named_by(L, "scatter", indices, shape, values.type());
  const Tensor listed = merged(L, values, static_cast<std::size_t>(indices.type().rank() - 1));
  const Tensor sums = apply<GatherGradient>(L, std::array{listed, rows}, product(shape, 0, axes));
  return of<Reshape>(L, sums, shape);
}

struct ScatterUpdateOptions {
  std::optional<std::string> reduction;
  static constexpr auto fields = std::tuple{field("reduction", &ScatterUpdateOptions::reduction)};
};

Tensor scatter_update(lua_State* L, const Tensor& x, const Tensor& indices, const Tensor& updates,
                      const ScatterUpdateOptions& options) {
  const std::string reduction = options.reduction.value_or("");
  if (reduction == "add") return of_both<Add>(L, x, scatter(L, indices, updates, x.type().shape));
  if (!reduction.empty()) {
    throw ArgumentError(fmt::format(
        "unknown reduction '{}': \"add\" adds updates to what is there, without one they replace it", reduction));
  }
  const auto [rows, axes] = rows_named_by(L, "scatter_update", indices, x.type().shape, updates.type());
  const Tensor listed = merged(L, updates, static_cast<std::size_t>(indices.type().rank() - 1));
  return of<Reshape>(L, apply<ScatterUpdate>(L, std::array{merged(L, x, axes), rows, listed}), x.type().shape);
}

/// x stretched to the extents of `other`, but for one axis.
Tensor stretched_beside(lua_State* L, const Tensor& x, const Tensor& other, int axis) {
  const auto along = static_cast<std::size_t>(axis);
  Shape own = x.type().shape, theirs = other.type().shape;
  const std::int64_t extent = std::exchange(own[along], 1);
  theirs[along] = 1;
  Shape both = ops::broadcast_shapes("take_along_axis", own, theirs);
  both[along] = extent;
  return both == x.type().shape ? x : of<BroadcastTo>(L, x, std::move(both));
}

Tensor take_along_axis(lua_State* L, const Tensor& given, const Tensor& at, std::optional<std::int64_t> axis) {
  const Tensor x = axis ? given : of<Reshape>(L, given, Shape{-1});
  const int along = ops::axis_index("take_along_axis", axis.value_or(0), x.type()), rank = x.type().rank();
  if (at.type().rank() != rank) {
    throw ArgumentError(fmt::format("indices {} for {}; both need {} dimension{}", to_string(at.type()),
                                    to_string(x.type()), rank, rank == 1 ? "" : "s"));
  }
  const Tensor rows = permuted(L, stretched_beside(L, x, at, along), axis_last(rank, along));
  const Tensor places = as_int64(L, "take_along_axis", stretched_beside(L, at, x, along));
  const Tensor columns = permuted(L, places, axis_last(rank, along));
  const Shape taken = columns.type().shape;
  const std::int64_t extent = rows.type().shape.back(), width = taken.back();
  const std::int64_t count = product(taken, 0, taken.size() - 1);
  std::vector<std::int64_t> numbers(static_cast<std::size_t>(count));
  std::iota(numbers.begin(), numbers.end(), 0);
  const Tensor row_numbers = of<BroadcastTo>(L, whole_numbers(L, {count, 1, 1}, numbers), Shape{count, width, 1});
  const Tensor pairs =
      apply<Concat>(L, std::array{row_numbers, of<Reshape>(L, columns, Shape{count, width, 1})}, std::int64_t{-1});
  const Tensor flat = of<FlatIndex>(L, pairs, Shape{count, extent}, std::string("take_along_axis"), along - 1);
  const Tensor found = of_both<Gather>(L, of<Reshape>(L, rows, Shape{count * extent}), flat);
  return permuted(L, of<Reshape>(L, found, taken), axis_back(rank, along));
}

}  // namespace

void add_places(Class<Tensor>& tensor) {
  tensor.method<&sort>("sort")
      .method<&argsort>("argsort")
      .method<&top_k>("top_k")
      .method<&slice>("slice")
      .method<&slice_update>("slice_update")
      .method<&scatter_update>("scatter_update")
      .method<&take_along_axis>("take_along_axis");
}

void add_places(const Module& gb) {
  gb.function<&scatter>("scatter");
}

}  // namespace gpubench::lua
