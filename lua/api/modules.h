// The list of native modules. Each lua/api file adds its functions and classes to the table `gb` in one opener.
#pragma once

struct lua_State;

namespace gpubench::lua {

void open_modules(lua_State* L);

}  // namespace gpubench::lua
