#include "lua/bind/load_text.h"

namespace gpubench::lua {
namespace {

// Upvalues: the original, then the index of its mode. No C++ object may be alive in here: an error of the original
// leaves through it.
int call_text_only(lua_State* L) {
  const int mode_index = static_cast<int>(lua_tointeger(L, lua_upvalueindex(2)));
  if (lua_gettop(L) < mode_index) lua_settop(L, mode_index);
  lua_pushliteral(L, "t");
  lua_replace(L, mode_index);
  lua_pushvalue(L, lua_upvalueindex(1));
  lua_insert(L, 1);
  lua_call(L, lua_gettop(L) - 1, LUA_MULTRET);
  return lua_gettop(L);
}

}  // namespace

void push_text_only(lua_State* L, int mode_index) {
  lua_pushinteger(L, mode_index);
  lua_pushcclosure(L, &call_text_only, 2);
}

}  // namespace gpubench::lua
