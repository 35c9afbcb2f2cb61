// Converts numbers between scripts and tensors: integers never pass through double, which cannot represent all of them.
#pragma once
#include <cstdint>
#include <lua.hpp>
#include <variant>

#include "lua/api/tensor/tensor.h"

namespace gpubench::lua {

/// An element as a Lua value: integers exactly, floats and booleans as such.
using Number = std::variant<std::int64_t, double, bool>;
/// Element `index` of any dtype but bytes and 16-bit floats.
Number element_of(const HostTensor& tensor, std::int64_t index);

/// A number from a script; an integer stays an integer.
using PlainNumber = std::variant<std::int64_t, double>;
/// The number as a constant of the current mode. Throws ArgumentError if the dtype cannot hold it.
Tensor scalar_constant(lua_State* L, PlainNumber value, Dtype dtype);

/// A parameter that accepts a Tensor or a convertible value whose dtype depends on other arguments; the function reads
/// it later with read_tensor(L, index, dtype).
struct TensorOperand {
  int index;
};
template <>
struct Value<TensorOperand> {
  static std::string expected() { return Value<TensorLike>::expected(); }
  static TensorOperand read(lua_State* L, int index) {
    if (!Value<TensorLike>::matches(L, index)) mismatch(L, index, expected());
    return {index};
  }
};

}  // namespace gpubench::lua
