// Numbers on their way between scripts and tensors: integers are never taken through double, which has no room for all
// of them.
#pragma once
#include <cstdint>
#include <lua.hpp>
#include <variant>

#include "lua/api/tensor.h"

namespace gpubench::lua {

/// An element as Lua has it: integers exactly, floats and booleans as such.
using Number = std::variant<std::int64_t, double, bool>;
/// Element `index` of any dtype but bytes and 16-bit floats.
Number element_of(const HostTensor& tensor, std::int64_t index);

/// A number of a script, which is not a float unless it was one.
using PlainNumber = std::variant<std::int64_t, double>;
/// The number as a constant of the current mode. Throws ArgumentError when the dtype has no such value.
Tensor scalar_constant(lua_State* L, PlainNumber value, Dtype dtype);

/// A parameter that takes a Tensor or a value that becomes one, where the dtype of that is known only from others: it
/// is still to be read, by read_tensor(L, index, dtype).
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
