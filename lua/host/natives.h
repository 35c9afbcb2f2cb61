// What gb and gb._native hold, by what runs in the Lua state. The default is closed: what a script reaches writes below
// its output folders only. tests/lua/host/rights.txt lists the right of every function.
#pragma once

struct lua_State;

namespace gpubench::lua {

enum class StateOf {
  script,
  /// A script whose calls the command `tune` changes.
  tuned_script,
  /// A command of the Lua library; no script ever runs in this state.
  command,
};

void open_natives(lua_State* L, StateOf state);

}  // namespace gpubench::lua
