// One opener per file of this folder.
#pragma once

struct lua_State;

namespace gpubench::lua {

void open_version(lua_State* L);

}  // namespace gpubench::lua
