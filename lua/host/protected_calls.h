// pcall, xpcall and the coroutine library for scripts: as Lua's own, but an interrupt passes through them, and a signal
// handler can determine the running coroutine.
#pragma once

struct lua_State;

namespace gpubench::lua {

void open_protected_calls(lua_State* L);

}  // namespace gpubench::lua
