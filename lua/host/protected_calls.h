// pcall, xpcall and the coroutine library as scripts see them: as Lua's own, except that an interrupt passes through
// them and that a signal handler can tell which coroutine runs.
#pragma once

struct lua_State;

namespace gpubench::lua {

void open_protected_calls(lua_State* L);

}  // namespace gpubench::lua
