// Methods and operators of Tensor, in several sources: ops of the tensor, what consists of several ops, and rows.
#pragma once
#include <array>
#include <lua.hpp>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "lua/api/tensor/tensor.h"
#include "lua/bind/bind.h"

namespace gpubench::lua {

template <class O, class... A>
Tensor apply(lua_State* L, std::span<const Tensor> inputs, A&&... arguments) {
  return world_of(L).dispatcher.apply_one(std::make_shared<const O>(std::forward<A>(arguments)...), inputs);
}

/// O of one tensor, with O's arguments.
template <class O, class... A>
Tensor of(lua_State* L, const Tensor& x, A&&... arguments) {
  return apply<O>(L, std::array{x}, std::forward<A>(arguments)...);
}

template <class O>
Tensor of_both(lua_State* L, const Tensor& a, const Tensor& b) {
  return apply<O>(L, std::array{a, b});
}

template <class O>
Tensor unary(lua_State* L, const Tensor& x) {
  return apply<O>(L, std::array{x});
}

/// Applies O to the operands at stack positions 1 and 2; a number takes the other's dtype.
template <class O>
Tensor of_operands(lua_State* L) {
  const bool first = Value<Tensor>::matches(L, 1);
  const std::optional<Dtype> dtype = world_of(L).dispatcher.dtype_of(Value<Tensor>::read(L, first ? 1 : 2));
  return apply<O>(L, std::array{read_tensor(L, 1, dtype), read_tensor(L, 2, dtype)});
}

template <class O>
int binary(lua_State* L) {
  Value<Tensor>::push(L, of_operands<O>(L));
  return 1;
}

/// Axes in scripts: one, a list, or nil for all.
using Axes = std::optional<std::variant<std::int64_t, std::vector<std::int64_t>>>;

inline std::vector<std::int64_t> axes_of(const Axes& axes) {
  if (!axes) return {};
  if (const auto* one = std::get_if<std::int64_t>(&*axes)) return {*one};
  return std::get<std::vector<std::int64_t>>(*axes);
}

/// Methods that consist of several ops and need no kernels of their own.
void add_composed(Class<Tensor>& tensor);
/// gb.stack and gb.pad, in the same way.
void add_composed(const Module& gb);

/// Parts, products and exponential sums along axes, and triangles.
void add_axes(Class<Tensor>& tensor);
/// Sorting, and what is read and written at places that tensors hold.
void add_places(Class<Tensor>& tensor);
/// gb.scatter and gb.einsum.
void add_places(const Module& gb);
void add_einsum(const Module& gb);

/// Numbers of rows or places: a tensor, or a number or table of whole numbers, in int64.
struct Indices {
  Tensor tensor;
};
template <>
struct Value<Indices> {
  static std::string expected() { return Value<TensorLike>::expected(); }
  static bool matches(lua_State* L, int index) { return Value<TensorLike>::matches(L, index); }
  static Indices read(lua_State* L, int index) { return {read_tensor(L, index, Dtype::i64)}; }
};

/// Rows by number, or what lies at these places of another axis; x:gather.
Tensor gather_along(lua_State* L, const Tensor& x, const Tensor& indices, std::optional<std::int64_t> axis);
/// Elements [begin, end) of an axis, counted from 0.
Tensor part(lua_State* L, const Tensor& x, int axis, std::int64_t begin, std::int64_t end);
/// The dimensions in this order; `x` itself if that is theirs.
Tensor permuted(lua_State* L, const Tensor& x, std::vector<std::int64_t> order);
/// The dimensions of `rank` with `axis` as the last one, and the order that takes it back.
std::vector<std::int64_t> axis_last(int rank, int axis);
std::vector<std::int64_t> axis_back(int rank, int axis);

/// Slicing, loops by ipairs, and assignment. Numbers count from 1 and ranges include both ends, as in Lua. The op
/// checks the bounds, since a traced function meets other extents.
void add_rows(Class<Tensor>& tensor);

}  // namespace gpubench::lua
