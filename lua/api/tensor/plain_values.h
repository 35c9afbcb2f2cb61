// Converts tensors of elements to plain Lua values and back, in any Lua state: scalars are numbers or booleans, byte
// strings (uint8 of rank 1) are strings, everything else is nested tables.
#pragma once
#include <lua.hpp>
#include <string>

#include "core/tensor/host_tensor.h"

namespace gpubench::lua {

/// Throws ArgumentError for a type without elements that would be a large number of empty tables.
void require_few_tables(const TensorType& type);
/// Pushes one value. Throws Error for float16 and bfloat16, which have no plain form.
void push_plain(lua_State* L, const TensorView& tensor, const std::string& what);
/// The value at `index` as `type`, whose extents may be `varying`. Throws Error naming `what` if it does not fit.
HostTensor read_plain(lua_State* L, int index, const TensorType& type, const std::string& what);
/// Whether the value is a table that begins with a tensor, and not one tensor written as a table of numbers.
bool is_list_of_tensors(lua_State* L, int index);
/// The type of a plain value: int64, float32 or bool by its first number; strings are uint8[?].
TensorType plain_type(lua_State* L, int index, const std::string& what);

}  // namespace gpubench::lua
