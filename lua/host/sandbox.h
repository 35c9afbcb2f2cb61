// Closes what a script must not reach: running programs, loading machine code, writing outside the output folders.
// Reading stays open. It is native because a script can replace whatever Lua code looks up, the string methods
// included.
#pragma once

struct lua_State;

namespace gpubench::lua {

/// Replaces functions of the open standard libraries, before any script has run; what is missing says so when it is
/// called. Where scripts may write, output_path() decides.
void close_sandbox(lua_State* L);

}  // namespace gpubench::lua
