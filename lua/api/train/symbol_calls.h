// Operators, methods and functions of tensors on symbols. There is no second table of them: each is the native function
// that tensors use, called inside a layer that traces it.
#pragma once
#include <lua.hpp>
#include <string>

#include "core/nn/config.h"

namespace gpubench::lua {

/// Gives SymbolicTensor the methods and operators of Tensor, and makes gb.concat and its like take symbols. Both
/// classes and these functions must be registered.
void add_symbol_calls(lua_State* L);

/// x[{ {}, { a, b }, c }] of a symbol.
int index_symbol(lua_State* L);

/// The function of a saved layer: `stored` is JSON of LayerFunction::stored(). Null for a function of a script.
LayerFunctionPtr stored_native_call(lua_State* L, const std::string& layer, const std::string& stored);

}  // namespace gpubench::lua
