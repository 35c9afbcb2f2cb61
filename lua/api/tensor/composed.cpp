#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <numeric>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/ops/cast.h"
#include "core/ops/check.h"
#include "core/ops/elementwise.h"
#include "core/ops/indexing.h"
#include "core/ops/reduce.h"
#include "core/ops/shape_ops.h"
#include "lua/api/tensor/numbers.h"
#include "lua/api/tensor/ops.h"
#include "lua/api/tensor/shape.h"

namespace gpubench::lua {
namespace {

/// `axis`: position of the new dimension in the result's shape.
Tensor expand_dims(lua_State* L, const Tensor& x, std::int64_t axis) {
  Shape shape = x.type().shape;
  const std::int64_t rank = std::ssize(shape), at = axis < 0 ? axis + rank + 1 : axis;
  if (at < 0 || at > rank) {
    throw ArgumentError(fmt::format("axis {} is outside of {} to {}, where {} can get a dimension", axis, -rank - 1,
                                    rank, to_string(x.type())));
  }
  shape.insert(shape.begin() + at, 1);
  return of<Reshape>(L, x, with_open_extent(std::move(shape)));
}

Tensor squeeze(lua_State* L, const Tensor& x, const Axes& axes) {
  const Shape& from = x.type().shape;
  std::vector<bool> leave(from.size());
  for (std::size_t i = 0; i < from.size(); ++i) leave[i] = !axes && from[i] == 1;
  for (const std::int64_t axis : axes_of(axes)) {
    const auto at = static_cast<std::size_t>(ops::axis_index("squeeze", axis, x.type()));
    if (from[at] != 1) throw ArgumentError(fmt::format("axis {} of {} is not 1", axis, to_string(x.type())));
    leave[at] = true;
  }
  Shape shape;
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (!leave[i]) shape.push_back(from[i]);
  }
  // Without axes, which are left out depends on all extents.
  return of<Reshape>(L, x, axes ? with_open_extent(std::move(shape)) : std::move(shape));
}

Tensor reverse(lua_State* L, const Tensor& x, const Axes& axes) {
  std::vector<std::int64_t> along = axes_of(axes);
  if (!axes) {
    along.resize(x.type().shape.size());
    std::iota(along.begin(), along.end(), 0);
  }
  return of<Reverse>(L, x, std::move(along));
}

/// Each dimension gets one before it, which is stretched and merged with it.
Tensor tile(lua_State* L, const Tensor& x, const std::vector<std::int64_t>& multiples) {
  const Shape& shape = x.type().shape;
  if (multiples.size() != shape.size()) {
    throw ArgumentError(fmt::format("{} multiples for {}, which has {} dimensions", multiples.size(),
                                    to_string(x.type()), shape.size()));
  }
  Shape apart, stretched, merged;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (multiples[i] < 1) throw ArgumentError(fmt::format("a multiple of {}; at least 1 is needed", multiples[i]));
    apart.insert(apart.end(), {1, shape[i]});
    stretched.insert(stretched.end(), {multiples[i], shape[i]});
    merged.push_back(element_count(std::array{multiples[i], shape[i]}));
  }
  return of<Reshape>(L, of<BroadcastTo>(L, of<Reshape>(L, x, apart), stretched), merged);
}

Tensor stack(lua_State* L, const std::vector<Tensor>& parts, std::optional<std::int64_t> axis) {
  if (parts.empty()) throw ArgumentError("stack needs at least one tensor");
  std::vector<Tensor> expanded;
  for (const Tensor& part : parts) {
    if (part.type().shape != parts.front().type().shape) {
      throw ArgumentError(
          fmt::format("{} and {} differ in shape", to_string(parts.front().type()), to_string(part.type())));
    }
    expanded.push_back(expand_dims(L, part, axis.value_or(0)));
  }
  const std::int64_t along = axis.value_or(0);
  return apply<Concat>(L, expanded, along);
}

/// { before, after }
using Around = std::vector<std::int64_t>;
enum class Mirror : std::uint8_t { reflect, symmetric };

/// `count` elements beside an end of an axis, as a mirror shows them: without the last one (reflect), or with it.
Tensor mirrored(lua_State* L, const Tensor& x, int axis, std::int64_t count, bool behind, Mirror mirror) {
  const std::int64_t extent = x.type().shape[static_cast<std::size_t>(axis)];
  const std::int64_t skipped = mirror == Mirror::reflect ? 1 : 0;
  if (count > extent - skipped) {
    throw ArgumentError(fmt::format("{} padding of {} elements beside axis {} of {}; at most {} are possible",
                                    mirror == Mirror::reflect ? "reflect" : "symmetric", count, axis,
                                    to_string(x.type()), std::max<std::int64_t>(extent - skipped, 0)));
  }
  const std::int64_t first = behind ? extent - skipped - count : skipped;
  return of<Reverse>(L, part(L, x, axis, first, first + count), std::vector<std::int64_t>{axis});
}

/// One number or pair for all dimensions, or a pair for each.
std::vector<Around> read_paddings(const std::variant<std::int64_t, std::vector<Around>>& given, const TensorType& x) {
  std::vector<Around> paddings;
  if (const auto* const all = std::get_if<std::int64_t>(&given)) {
    paddings.assign(x.shape.size(), {*all, *all});
  } else {
    paddings = std::get<std::vector<Around>>(given);
    if (paddings.size() == 1) paddings.resize(x.shape.size(), paddings.front());
  }
  if (std::ssize(paddings) != x.rank()) {
    throw ArgumentError(fmt::format("{} paddings for {}; one {{before, after}} for each dimension is needed",
                                    paddings.size(), to_string(x)));
  }
  for (std::size_t axis = 0; axis < paddings.size(); ++axis) {
    const Around& around = paddings[axis];
    if (around.size() != 2 || around[0] < 0 || around[1] < 0) {
      throw ArgumentError(fmt::format("padding {} is not {{before, after}}, each 0 or more", axis + 1));
    }
  }
  return paddings;
}

/// What stands around: a number, or the name of a mode.
using PadValue = std::optional<std::variant<PlainNumber, std::string>>;

std::optional<Mirror> mirror_of(const PadValue& value) {
  const std::string* const mode = value ? std::get_if<std::string>(&*value) : nullptr;
  if (mode == nullptr || *mode == "constant") return std::nullopt;
  if (*mode == "reflect") return Mirror::reflect;
  if (*mode == "symmetric") return Mirror::symmetric;
  throw ArgumentError(
      fmt::format("unknown mode '{}' (known: constant, reflect, symmetric; a number pads with itself)", *mode));
}

Tensor pad(lua_State* L, const Tensor& x, const std::variant<std::int64_t, std::vector<Around>>& given,
           const PadValue& value) {
  const std::vector<Around> paddings = read_paddings(given, x.type());
  const std::optional<Mirror> mirror = mirror_of(value);
  const PlainNumber* const number = value ? std::get_if<PlainNumber>(&*value) : nullptr;
  const Tensor scalar = scalar_constant(L, number != nullptr ? *number : PlainNumber(std::int64_t{0}), x.type().dtype);
  Tensor padded = x;
  for (std::size_t axis = 0; axis < paddings.size(); ++axis) {
    const auto beside = [&](std::int64_t count, bool behind) {
      if (mirror) return mirrored(L, padded, static_cast<int>(axis), count, behind, *mirror);
      Shape shape = padded.type().shape;
      shape[axis] = count;
      return of<BroadcastTo>(L, scalar, shape);
    };
    std::vector<Tensor> parts;
    if (paddings[axis][0] > 0) parts.push_back(beside(paddings[axis][0], false));
    parts.push_back(padded);
    if (paddings[axis][1] > 0) parts.push_back(beside(paddings[axis][1], true));
    if (parts.size() > 1) padded = apply<Concat>(L, parts, static_cast<std::int64_t>(axis));
  }
  return padded;
}

/// Bounds are numbers or tensors.
int clip(lua_State* L) {
  const Tensor x = Value<Tensor>::read(L, 1);
  for (const int bound : {2, 3}) {
    if (!Value<TensorLike>::matches(L, bound)) throw ArgumentError("clip(low, high): two bounds are needed");
  }
  const Dtype dtype = x.type().dtype;
  const Tensor above = of_both<Maximum>(L, x, read_tensor(L, 2, dtype));
  Value<Tensor>::push(L, of_both<Minimum>(L, above, read_tensor(L, 3, dtype)));
  return 1;
}

/// The arg_max of -x, or for integers of m - x, which stays in range.
Tensor argmin(lua_State* L, const Tensor& x, std::optional<std::int64_t> axis) {
  const Dtype dtype = x.type().dtype;
  if (is_floating(dtype)) return of<ArgMax>(L, of<Neg>(L, x), axis.value_or(-1));
  const Tensor middle = scalar_constant(L, std::int64_t{dtype == Dtype::u8 ? 255 : -1}, dtype);
  return of<ArgMax>(L, of_both<Sub>(L, middle, x), axis.value_or(-1));
}

template <class O>
Tensor of_flags(lua_State* L, const char* name, const Tensor& x, const Axes& axes, std::optional<bool> keepdims) {
  if (x.type().dtype != Dtype::boolean) {
    throw ArgumentError(fmt::format("{} takes bool, got {}; x:ne(0) makes one", name, to_string(x.type())));
  }
  const Tensor ones = of<Cast>(L, x, Dtype::u8);
  return of<Cast>(L, of<O>(L, ones, axes_of(axes), keepdims.value_or(false)), Dtype::boolean);
}

Tensor any(lua_State* L, const Tensor& x, const Axes& axes, std::optional<bool> keepdims) {
  return of_flags<ReduceMax>(L, "any", x, axes, keepdims);
}
Tensor all(lua_State* L, const Tensor& x, const Axes& axes, std::optional<bool> keepdims) {
  return of_flags<ReduceMin>(L, "all", x, axes, keepdims);
}

Tensor variance(lua_State* L, const Tensor& x, const Axes& axes, std::optional<bool> keepdims) {
  const Tensor centred = of_both<Sub>(L, x, of<ReduceMean>(L, x, axes_of(axes), true));
  return of<ReduceMean>(L, of<Square>(L, centred), axes_of(axes), keepdims.value_or(false));
}
Tensor standard_deviation(lua_State* L, const Tensor& x, const Axes& axes, std::optional<bool> keepdims) {
  return of<Sqrt>(L, variance(L, x, axes, keepdims));
}

Tensor is_nan(lua_State* L, const Tensor& x) {
  return of_both<NotEqual>(L, x, x);
}

}  // namespace

/// Rows of another axis: it is brought to the front and back.
Tensor gather_along(lua_State* L, const Tensor& x, const Tensor& indices, std::optional<std::int64_t> axis) {
  const int at = axis ? ops::axis_index("gather", *axis, x.type()) : 0;
  if (at == 0) return of_both<Gather>(L, x, indices);
  std::vector<std::int64_t> front{at}, back;
  for (int i = 0; i < x.type().rank(); ++i) {
    if (i != at) front.push_back(i);
  }
  const int taken = indices.type().rank();
  for (int i = 0; i < at; ++i) back.push_back(taken + i);
  for (int i = 0; i < taken; ++i) back.push_back(i);
  for (int i = at; i + 1 < x.type().rank(); ++i) back.push_back(taken + i);
  return of<Transpose>(L, of_both<Gather>(L, of<Transpose>(L, x, front), indices), back);
}

Tensor gather(lua_State* L, const Tensor& x, const Indices& indices, std::optional<std::int64_t> axis) {
  return gather_along(L, x, indices.tensor, axis);
}

void add_composed(Class<Tensor>& tensor) {
  tensor.method<&expand_dims>("expand_dims")
      .method<&squeeze>("squeeze")
      .method<&reverse>("reverse")
      .method<&tile>("tile")
      .method<&gather>("gather")
      .method<&clip, 2>("clip")
      .method<&argmin>("argmin")
      .method<&any>("any")
      .method<&all>("all")
      .method<&variance>("variance")
      .method<&standard_deviation>("std")
      .method<&is_nan>("is_nan");
}

void add_composed(const Module& gb) {
  gb.function<&stack>("stack").function<&pad>("pad");
}

}  // namespace gpubench::lua
