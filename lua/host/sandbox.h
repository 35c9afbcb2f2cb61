// Blocks what scripts must not do: run programs, load machine code, write outside the output folders. Reading stays
// allowed. The sandbox is native because a script can replace everything that Lua code looks up, including string
// methods.
#pragma once

struct lua_State;

namespace gpubench::lua {

/// Replaces functions of the open standard libraries, before any script runs; calling a blocked function is an error
/// that says so. output_path() decides where scripts may write.
void close_sandbox(lua_State* L);

}  // namespace gpubench::lua
