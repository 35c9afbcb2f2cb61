#include "lua/bind/value.h"

namespace gpubench::lua {

std::size_t sequence_length(lua_State* L, int index) {
  index = lua_absindex(L, index);
  luaL_checkstack(L, 4, "reading of a list");
  if (lua_getmetatable(L, index) != 0) {
    if (lua_rawgetp(L, -1, &list_maker_key) == LUA_TFUNCTION) {
      lua_pushvalue(L, index);
      lua_call(L, 1, 0);
      lua_pop(L, 1);
    } else {
      lua_pop(L, 2);
    }
  }
  if (luaL_getmetafield(L, index, "__len") != LUA_TNIL)
    throw ArgumentError("array expected, got a table whose metatable has __len; copy its entries to a plain table");
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
