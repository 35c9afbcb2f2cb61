// Methods of Tensor along axes that consist of several ops: parts, products, exponential sums, triangles.
#include <algorithm>
#include <array>
#include <fmt/ranges.h>
#include <numeric>
#include <variant>
#include <vector>

#include "core/base/interrupt.h"
#include "core/ops/cast.h"
#include "core/ops/check.h"
#include "core/ops/elementwise.h"
#include "core/ops/reduce.h"
#include "core/ops/shape_ops.h"
#include "lua/api/tensor/numbers.h"
#include "lua/api/tensor/ops.h"
#include "lua/api/tensor/shape.h"

namespace gpubench::lua {
namespace {

/// One number, or several.
using Whole = std::variant<std::int64_t, std::vector<std::int64_t>>;

std::int64_t extent_of(lua_State* L, const Tensor& x, int axis) {
  return read_extent(L, x, static_cast<std::size_t>(axis));
}

Tensor flat(lua_State* L, const Tensor& x) {
  return of<Reshape>(L, x, Shape{-1});
}

/// f of x in float32, whose result is rounded once to the type of x.
template <class F>
Tensor in_float32(lua_State* L, const Tensor& x, const F& f) {
  const Dtype dtype = x.type().dtype;
  if (dtype != Dtype::f16 && dtype != Dtype::bf16) return f(x);
  return of<Cast>(L, f(of<Cast>(L, x, Dtype::f32)), dtype);
}

std::vector<Tensor> split(lua_State* L, const Tensor& x, const Whole& sections, std::optional<std::int64_t> axis) {
  const int along = ops::axis_index("split", axis.value_or(0), x.type());
  const std::int64_t extent = extent_of(L, x, along);
  std::vector<std::int64_t> ends;
  if (const auto* const count = std::get_if<std::int64_t>(&sections)) {
    if (*count < 1 || *count > std::max<std::int64_t>(extent, 1) || extent % *count != 0) {
      throw ArgumentError(
          fmt::format("axis {} of {} has {} elements, which are not {} equal parts; a list says where "
                      "parts of any size end",
                      along, to_string(x.type()), extent, *count));
    }
    for (std::int64_t i = 1; i <= *count; ++i) ends.push_back(extent / *count * i);
  } else {
    ends = std::get<std::vector<std::int64_t>>(sections);
    ends.push_back(extent);
  }
  std::vector<Tensor> parts;
  std::int64_t begin = 0;
  for (const std::int64_t end : ends) {
    if (end < begin || end > extent) {
      throw ArgumentError(fmt::format("parts of axis {} end at rising numbers from 0 to {}, got {}", along, extent,
                                      fmt::join(ends.begin(), ends.end() - 1, ", ")));
    }
    check_interrupt();  // there may be millions
    parts.push_back(part(L, x, along, begin, end));
    begin = end;
  }
  return parts;
}

std::vector<Tensor> unstack(lua_State* L, const Tensor& x, std::optional<std::int64_t> axis) {
  const int along = ops::axis_index("unstack", axis.value_or(0), x.type());
  Shape shape = x.type().shape;
  shape.erase(shape.begin() + along);
  std::vector<Tensor> parts;
  for (std::int64_t i = 0; i < extent_of(L, x, along); ++i) {
    check_interrupt();
    parts.push_back(of<Reshape>(L, part(L, x, along, i, i + 1), with_open_extent(shape)));
  }
  return parts;
}

Tensor rolled(lua_State* L, const Tensor& x, std::int64_t shift, int axis) {
  const std::int64_t extent = extent_of(L, x, axis);
  if (extent == 0) return x;
  const std::int64_t first = (extent - shift % extent) % extent;  // of the elements, in the result
  if (first == 0) return x;
  return apply<Concat>(L, std::array{part(L, x, axis, first, extent), part(L, x, axis, 0, first)},
                       static_cast<std::int64_t>(axis));
}

Tensor roll(lua_State* L, const Tensor& x, const Whole& shift, const Axes& axes) {
  const std::vector<std::int64_t> shifts =
      std::holds_alternative<std::int64_t>(shift) ? std::vector{std::get<std::int64_t>(shift)} : std::get<1>(shift);
  if (!axes) {
    if (shifts.size() != 1) throw ArgumentError("several shifts need as many axes");
    return of<Reshape>(L, rolled(L, flat(L, x), shifts[0], 0), with_open_extent(x.type().shape));
  }
  const std::vector<std::int64_t> along = axes_of(axes);
  if (shifts.size() != 1 && shifts.size() != along.size()) {
    throw ArgumentError(
        fmt::format("{} shifts for {} axes; one for all, or one for each", shifts.size(), along.size()));
  }
  Tensor result = x;
  for (std::size_t i = 0; i < along.size(); ++i) {
    const std::int64_t by = shifts[shifts.size() == 1 ? 0 : i];
    result = rolled(L, result, by, ops::axis_index("roll", along[i], x.type()));
  }
  return result;
}

/// Each element so many times, one behind the other.
Tensor repeated_elements(lua_State* L, const Tensor& given, const Whole& repeats, std::optional<std::int64_t> axis) {
  const Tensor x = axis ? given : flat(L, given);
  const int along = ops::axis_index("repeated", axis.value_or(0), x.type());
  const std::int64_t extent = extent_of(L, x, along);
  if (const auto* const count = std::get_if<std::int64_t>(&repeats)) {
    if (*count < 0) throw ArgumentError(fmt::format("{} repeats; 0 or more are possible", *count));
    Shape apart = x.type().shape, stretched = apart, merged = apart;
    apart.insert(apart.begin() + along + 1, 1);
    stretched.insert(stretched.begin() + along + 1, *count);
    merged[static_cast<std::size_t>(along)] = element_count(std::array{extent, *count});
    return of<Reshape>(L, of<BroadcastTo>(L, of<Reshape>(L, x, apart), stretched), merged);
  }
  const auto& each = std::get<std::vector<std::int64_t>>(repeats);
  if (std::ssize(each) != extent || std::ranges::any_of(each, [](std::int64_t count) { return count < 0; })) {
    throw ArgumentError(
        fmt::format("repeats of axis {} are {} numbers, 0 or more, got {}", along, extent, fmt::join(each, ", ")));
  }
  std::vector<std::int64_t> rows;
  for (std::size_t i = 0; i < each.size(); ++i) {
    rows.insert(rows.end(), static_cast<std::size_t>(each[i]), static_cast<std::int64_t>(i));
  }
  const Shape shape{std::ssize(rows)};
  const Tensor indices = world_of(L).dispatcher.constant(HostTensor::of<std::int64_t>(shape, rows));
  return gather_along(L, x, indices, along);
}

Tensor broadcast_to(lua_State* L, const Tensor& x, Shape shape) {
  return of<BroadcastTo>(L, x, std::move(shape));
}

void require_products(const char* name, const Tensor& x) {
  const Dtype dtype = x.type().dtype;
  if (is_floating(dtype) || dtype == Dtype::i32 || dtype == Dtype::i64) return;
  throw ArgumentError(fmt::format("{} of {} would overflow or have no meaning; cast it to int32 or float32", name,
                                  to_string(x.type())));
}

/// The product of neighbouring halves of the last axis until one element is left: its gradient needs no division, and
/// so is right where elements are 0.
Tensor product_of_last(lua_State* L, Tensor x) {
  const int axis = x.type().rank() - 1;
  for (std::int64_t extent = x.type().shape.back(); extent > 1; extent = x.type().shape.back()) {
    const std::int64_t half = extent / 2;
    Tensor halves = of_both<Mul>(L, part(L, x, axis, 0, half), part(L, x, axis, half, 2 * half));
    if (extent % 2 != 0) {
      halves = apply<Concat>(L, std::array{halves, part(L, x, axis, extent - 1, extent)}, std::int64_t{-1});
    }
    x = halves;
  }
  return x;
}

/// Without these dimensions, or with each of them as 1.
Shape reduced_shape(const Shape& from, const std::vector<bool>& reduced, bool keepdims) {
  Shape shape;
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (!reduced[i]) shape.push_back(from[i]);
    if (reduced[i] && keepdims) shape.push_back(1);
  }
  return shape;
}

/// For each dimension, whether it is among the axes.
std::vector<bool> flags_of(const char* name, const Axes& axes, const TensorType& type) {
  std::vector<bool> flags(type.shape.size(), !axes || axes_of(axes).empty());
  for (const std::int64_t axis : axes_of(axes)) {
    const auto flag = flags.begin() + ops::axis_index(name, axis, type);
    if (*flag) throw ArgumentError(fmt::format("axis {} is given twice", axis));
    *flag = true;
  }
  return flags;
}

Tensor prod(lua_State* L, const Tensor& x, const Axes& axes, std::optional<bool> keepdims) {
  require_products("products", x);
  const std::vector<bool> reduced = flags_of("prod", axes, x.type());
  const Shape& from = x.type().shape;
  std::vector<std::int64_t> order, behind;
  Shape kept;
  std::int64_t factors = 1;
  for (std::size_t i = 0; i < from.size(); ++i) {
    (reduced[i] ? behind : order).push_back(static_cast<std::int64_t>(i));
    if (reduced[i]) factors *= read_extent(L, x, i);
    if (!reduced[i]) kept.push_back(from[i]);
  }
  order.insert(order.end(), behind.begin(), behind.end());
  kept.push_back(factors);
  const Shape shape = reduced_shape(from, reduced, keepdims.value_or(false));
  if (factors == 0) return of<BroadcastTo>(L, scalar_constant(L, std::int64_t{1}, x.type().dtype), shape);
  return in_float32(L, x, [&](const Tensor& wide) {
    const Tensor rows = of<Reshape>(L, permuted(L, wide, order), kept);
    return of<Reshape>(L, product_of_last(L, rows), shape);
  });
}

/// Each step doubles the reach: element i has the product of the last 1, 2, 4, ... elements up to it.
Tensor cumprod(lua_State* L, const Tensor& x, std::optional<std::int64_t> axis, std::optional<bool> reverse) {
  require_products("products", x);
  const int along = ops::axis_index("cumprod", axis.value_or(0), x.type());
  const std::int64_t extent = extent_of(L, x, along);
  const auto turned = [&](const Tensor& y) {
    return reverse.value_or(false) ? of<Reverse>(L, y, std::vector<std::int64_t>{along}) : y;
  };
  return in_float32(L, x, [&](const Tensor& wide) {
    Tensor y = turned(wide);
    for (std::int64_t reach = 1; reach < extent; reach *= 2) {
      const Tensor products = of_both<Mul>(L, part(L, y, along, reach, extent), part(L, y, along, 0, extent - reach));
      y = apply<Concat>(L, std::array{part(L, y, along, 0, reach), products}, static_cast<std::int64_t>(along));
    }
    return turned(y);
  });
}

/// The largest element, which is taken off so that nothing overflows, is constant for the gradient.
Tensor logsumexp(lua_State* L, const Tensor& given, const Axes& axes, std::optional<bool> keepdims) {
  ops::expect_floating("logsumexp", given.type());
  const std::vector<bool> reduced = flags_of("logsumexp", axes, given.type());
  return in_float32(L, given, [&](const Tensor& x) {
    const std::vector<std::int64_t> over = axes_of(axes);
    const Tensor zero = scalar_constant(L, std::int64_t{0}, x.type().dtype);
    const Tensor largest = of<ReduceMax>(L, x, over, true);
    const Tensor finite = of_both<Equal>(L, of_both<Sub>(L, largest, largest), zero);
    const Tensor shift = of<StopGradient>(L, apply<Select>(L, std::array{finite, largest, zero}));
    const Tensor sum = of<ReduceSum>(L, of<Exp>(L, of_both<Sub>(L, x, shift)), over, true);
    const Tensor kept = of_both<Add>(L, of<Log>(L, sum), shift);
    if (keepdims.value_or(false)) return kept;
    return of<Reshape>(L, kept, with_open_extent(reduced_shape(x.type().shape, reduced, false)));
  });
}

/// Elements of the last two dimensions on and below (or above) a diagonal, else 0.
Tensor triangle(lua_State* L, const Tensor& x, std::int64_t diagonal, bool below) {
  const int rank = x.type().rank();
  if (rank < 2) throw ArgumentError(fmt::format("a matrix is needed, got {}", to_string(x.type())));
  const Shape shape{extent_of(L, x, rank - 2), extent_of(L, x, rank - 1)};
  HostTensor mask(TensorType{shape, Dtype::boolean});
  bool* keeps = mask.values<bool>().data();
  for (std::int64_t row = 0; row < shape[0]; ++row) {
    for (std::int64_t column = 0; column < shape[1]; ++column) {
      *keeps++ = below ? column - row <= diagonal : column - row >= diagonal;
    }
  }
  const Tensor zero = scalar_constant(L, std::int64_t{0}, x.type().dtype);
  return apply<Select>(L, std::array{world_of(L).dispatcher.constant(mask), x, zero});
}

Tensor tril(lua_State* L, const Tensor& x, std::optional<std::int64_t> diagonal) {
  return triangle(L, x, diagonal.value_or(0), true);
}
Tensor triu(lua_State* L, const Tensor& x, std::optional<std::int64_t> diagonal) {
  return triangle(L, x, diagonal.value_or(0), false);
}

}  // namespace

Tensor part(lua_State* L, const Tensor& x, int axis, std::int64_t begin, std::int64_t end) {
  const auto along = static_cast<std::size_t>(axis);
  SliceRange range{Shape(along + 1, 0), Shape(along + 1, SliceRange::to_end), {}};
  range.begin[along] = begin;
  range.end[along] = end;
  return of<Slice>(L, x, std::move(range));
}

Tensor permuted(lua_State* L, const Tensor& x, std::vector<std::int64_t> order) {
  if (std::ranges::is_sorted(order)) return x;
  return of<Transpose>(L, x, std::move(order));
}

std::vector<std::int64_t> axis_last(int rank, int axis) {
  std::vector<std::int64_t> order;
  for (int i = 0; i < rank; ++i) {
    if (i != axis) order.push_back(i);
  }
  order.push_back(axis);
  return order;
}

std::vector<std::int64_t> axis_back(int rank, int axis) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(rank - 1));
  std::iota(order.begin(), order.end(), 0);
  order.insert(order.begin() + axis, rank - 1);
  return order;
}

void add_axes(Class<Tensor>& tensor) {
  tensor.method<&broadcast_to>("broadcast_to")
      .method<&split>("split")
      .method<&unstack>("unstack")
      .method<&roll>("roll")
      .method<&repeated_elements>("repeated")
      .method<&prod>("prod")
      .method<&cumprod>("cumprod")
      .method<&logsumexp>("logsumexp")
      .method<&tril>("tril")
      .method<&triu>("triu");
}

}  // namespace gpubench::lua
