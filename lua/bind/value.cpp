#include "lua/bind/value.h"

namespace gpubench::lua {

std::size_t sequence_length(lua_State* L, int index) {
  index = lua_absindex(L, index);
  const std::size_t length = lua_rawlen(L, index);
  std::size_t keys = 0;
  lua_pushnil(L);
  while (lua_next(L, index)) {
    lua_pop(L, 1);
    ++keys;
    if (lua_type(L, -1) == LUA_TSTRING)
      throw ArgumentError("array expected, got a table with the key '" + std::string(lua_tostring(L, -1)) + "'");
  }
  if (keys != length) throw ArgumentError("array expected, got a table with gaps");
  return length;
}

}  // namespace gpubench::lua
