// load() and loadfile() that take source text only: a crafted binary chunk can crash the interpreter, or be machine
// code.
#pragma once
#include <lua.hpp>

namespace gpubench::lua {

/// Takes the original load() or loadfile() from the stack and leaves one whose argument `mode_index` (3 for load, 2 for
/// loadfile) is always "t". Works in any Lua state.
void push_text_only(lua_State* L, int mode_index);

}  // namespace gpubench::lua
