// The lists of native modules. Each file of lua/api has an opener that adds its functions and classes to the table
// `gb`.
#pragma once

struct lua_State;

namespace gpubench::lua {

/// What scripts use, and what the Lua library needs where a script runs.
void open_modules(lua_State* L);
/// What the commands of the Lua library need beyond that. Never in a state that runs a script.
void open_command_modules(lua_State* L);

}  // namespace gpubench::lua
