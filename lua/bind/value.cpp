#include "lua/bind/value.h"

namespace gpubench::lua {

std::size_t sequence_length(lua_State* L, int index) {
  index = lua_absindex(L, index);
  // Entries that are made when they are asked for: reads of lists are raw.
  if (luaL_getmetafield(L, index, "__len") != LUA_TNIL) {
    lua_pop(L, 1);
    const lua_Integer length = luaL_len(L, index);
    for (lua_Integer i = 1; i <= length; ++i) {
      lua_geti(L, index, i);
      lua_rawseti(L, index, i);
    }
    return static_cast<std::size_t>(length);
  }
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
