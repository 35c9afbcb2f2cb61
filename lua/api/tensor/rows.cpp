#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <memory>
#include <variant>
#include <vector>

#include "core/ops/shape_ops.h"
#include "core/ops/state.h"
#include "lua/api/tensor/ops.h"
#include "lua/api/tensor/shape.h"
#include "lua/bind/bind.h"

namespace gpubench::lua {
namespace {

/// Adds the range of a dimension: where Lua's `first` and `last` lie, negative ones from the end.
void add_range(SliceRange& range, std::int64_t first, std::int64_t last, std::int64_t stride) {
  if (first == 0 || last == 0) throw ArgumentError("index 0 is out of range: elements are numbered from 1");
  range.begin.push_back(first > 0 ? first - 1 : first);
  range.end.push_back(last == -1 ? SliceRange::to_end : last > 0 ? std::min(last, SliceRange::to_end - 1) : last + 1);
  range.stride.push_back(stride);
  if (range.begin.back() == range.end.back()) {
    throw ArgumentError(fmt::format("the range {{{}, {}}} holds nothing", first, last));
  }
}

void add_row(SliceRange& range, std::int64_t number) {
  add_range(range, number, number, 1);
}

void add_range(SliceRange& range, const std::vector<std::int64_t>& bounds) {
  if (bounds.size() > 3) throw ArgumentError("a range is {first, last, stride}, {first, last}, {index} or {}");
  const std::int64_t first = bounds.empty() ? 1 : bounds[0];
  const std::int64_t last = bounds.empty() ? -1 : bounds.size() == 1 ? first : bounds[1];
  add_range(range, first, last, bounds.size() == 3 ? bounds[2] : 1);
}

Tensor rows(lua_State* L, const Tensor& x, std::int64_t first, std::int64_t last) {
  if (x.type().rank() == 0) throw ArgumentError("a scalar cannot be sliced");
  SliceRange range;
  add_range(range, first, last, 1);
  return apply<Slice>(L, std::array{x}, std::move(range));
}

using Bounds = std::vector<std::int64_t>;

/// A range or a number for each dimension.
bool is_one_per_dimension(lua_State* L, int key) {
  bool found = false;
  for (std::size_t i = 1; i <= lua_rawlen(L, key) && !found; ++i) {
    found = lua_rawgeti(L, key, static_cast<lua_Integer>(i)) == LUA_TTABLE;
    lua_pop(L, 1);
  }
  return found;
}

/// One range for the first dimension, {first, last}, or a list of ranges and numbers, one per dimension. `numbered`
/// gets the dimensions of the numbers.
SliceRange read_ranges(lua_State* L, int key, const Shape& shape, std::vector<std::size_t>* numbered = nullptr) {
  SliceRange range;
  if (!is_one_per_dimension(L, key)) {
    add_range(range, Value<Bounds>::read(L, key));
    return range;
  }
  const auto ranges = Value<std::vector<std::variant<std::int64_t, Bounds>>>::read(L, key);
  if (ranges.size() > shape.size()) {
    throw ArgumentError(fmt::format("{} ranges for a tensor of {} dimensions", ranges.size(), shape.size()));
  }
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    if (const auto* const bounds = std::get_if<Bounds>(&ranges[i])) {
      add_range(range, *bounds);
    } else {
      add_row(range, std::get<std::int64_t>(ranges[i]));
      if (numbered != nullptr) numbered->push_back(i);
    }
  }
  return range;
}

/// x[i]: row i; nil for the number after the last row's, which ends ipairs. x[{first, last}]: rows. x[{{a, b}, {},
/// c}]: a range per dimension, or a number, whose dimension goes.
int index(lua_State* L) {
  const Tensor x = Value<Tensor>::read(L, 1);
  const Shape& shape = x.type().shape;
  if (shape.empty()) throw ArgumentError("a scalar cannot be indexed; item() gives its value");
  if (lua_istable(L, 2)) {
    std::vector<std::size_t> numbered;
    Tensor part = apply<Slice>(L, std::array{x}, read_ranges(L, 2, shape, &numbered));
    Shape kept = part.type().shape;
    for (auto at = numbered.rbegin(); at != numbered.rend(); ++at)
      kept.erase(kept.begin() + static_cast<std::ptrdiff_t>(*at));
    if (!numbered.empty()) part = apply<Reshape>(L, std::array{part}, with_open_extent(std::move(kept)));
    Value<Tensor>::push(L, part);
    return 1;
  }
  const auto number = Value<std::int64_t>::read(L, 2);
  if (number == shape[0] + 1) {
    read_extent(L, x, 0);  // what a traced function does next depends on it
    lua_pushnil(L);
    return 1;
  }
  SliceRange range;
  add_row(range, number);
  const Tensor row = apply<Slice>(L, std::array{x}, std::move(range));
  Value<Tensor>::push(L, apply<Reshape>(L, std::array{row}, with_open_extent({shape.begin() + 1, shape.end()})));
  return 1;
}

/// The rows that x[key] names, numbered from 0: one, or the elements of a range.
struct NamedRows {
  std::int64_t first, count;
  bool one;  ///< x[i], whose values lack the first dimension
};

NamedRows rows_named(lua_State* L, int key, const TensorType& type) {
  SliceRange range;
  const bool one = !lua_istable(L, key);
  if (one)
    add_row(range, Value<std::int64_t>::read(L, key));
  else
    range = read_ranges(L, key, type.shape);
  const ResolvedSlice found = Slice(range).resolve(type);
  for (std::size_t i = 1; i < type.shape.size(); ++i) {
    if (found.shape[i] != type.shape[i]) {
      throw ArgumentError("whole rows are assigned: x[i] = row or x[{first, last}] = rows; a part of a row cannot be");
    }
  }
  if (found.stride[0] != 1 && found.shape[0] > 1) throw ArgumentError("rows with gaps cannot be assigned in one go");
  return {found.begin[0], found.shape[0], one};
}

/// Values of `type`; a single number fills it.
Tensor values_for_rows(lua_State* L, int index, const TensorType& type) {
  const Tensor values = read_tensor(L, index, type.dtype);
  if (values.symbolic()) throw ArgumentError("a value of a traced function that has ended cannot be assigned");
  if (values.type().rank() != 0 || type.rank() == 0) return values;
  return apply<BroadcastTo>(L, std::array{values}, type.shape);
}

/// x[i] = row, x[{first, last}] = rows: of a variable, or of a tensor in memory of its own, which is copied first where
/// another tensor or a dataset reads it, so that theirs keeps its values.
int assign_rows(lua_State* L) {
  const auto x = Value<std::shared_ptr<Tensor>>::read(L, 1);
  Dispatcher& dispatcher = world_of(L).dispatcher;
  if (x->symbolic() || dispatcher.trace() != nullptr) {
    throw ArgumentError("rows cannot be assigned in a traced function; gb.concat and gb.where make a new tensor");
  }
  if (dispatcher.recording()) {
    throw ArgumentError(
        "rows cannot be assigned while a tape records, because that has no gradient; gb.concat and "
        "gb.where make a new tensor");
  }
  if (x->type().rank() == 0) throw ArgumentError("a scalar has no rows");
  const NamedRows rows = rows_named(L, 2, x->type());
  Shape shape = x->type().shape;
  shape[0] = rows.count;
  const std::size_t row_bytes = rows.count == 0 ? 0 : TensorType{shape, x->type().dtype}.bytes() / rows.count;
  if (rows.one) shape.erase(shape.begin());
  const TensorType type{std::move(shape), x->type().dtype};
  const Tensor values = values_for_rows(L, 3, type);
  if (values.type() != type) {
    throw ArgumentError(fmt::format("the rows are {}, got {}", to_string(type), to_string(values.type())));
  }
  if (rows.count == 0) return 0;
  Eager& eager = dispatcher.eager();
  if (x->variable() == nullptr && !x->alone()) *x = eager.copy(*x);
  const Tensor target(type, *x, static_cast<std::size_t>(rows.first) * row_bytes);
  eager.apply(std::make_shared<const Assign>(), std::array{target, values}, x->device(), "assign");
  if (x->variable() != nullptr) ++dispatcher.runtime().variables().writes(*x->variable());
  return 0;
}

}  // namespace

void add_rows(Class<Tensor>& tensor) {
  tensor.method<&rows>("rows").index<&index, &assign_rows>();
}

}  // namespace gpubench::lua
