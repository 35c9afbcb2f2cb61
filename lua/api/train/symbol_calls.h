// Operators, methods and functions of tensors on symbols: each is the native function that tensors use, called inside a
// layer that traces it (native_call.h).
#pragma once
#include <lua.hpp>

namespace gpubench::lua {

/// Gives SymbolicTensor the methods and operators of Tensor, and makes gb.concat and its like take symbols. Both
/// classes and these functions must be registered.
void add_symbol_calls(lua_State* L);

/// x[{ {}, { a, b }, c }] of a symbol.
int index_symbol(lua_State* L);

}  // namespace gpubench::lua
