// Ops as methods and operators of Tensor.
#pragma once
#include <array>
#include <lua.hpp>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "lua/api/tensor/tensor.h"
#include "lua/bind/bind.h"

namespace gpubench::lua {

template <class O, class... A>
Tensor apply(lua_State* L, std::span<const Tensor> inputs, A&&... arguments) {
  return world_of(L).dispatcher.apply_one(std::make_shared<const O>(std::forward<A>(arguments)...), inputs);
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

}  // namespace gpubench::lua
