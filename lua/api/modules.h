// The list of native modules. Each file of lua/api has an opener that adds its functions and classes to the table `gb`.
#pragma once

struct lua_State;

namespace gpubench::lua {

void open_modules(lua_State* L);

}  // namespace gpubench::lua
