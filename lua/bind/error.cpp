#include "lua/bind/error.h"

#include <filesystem>
#include <new>
#include <system_error>

namespace gpubench::lua {

std::string text_of(const std::exception& error) {
  const bool is_memory = dynamic_cast<const std::bad_alloc*>(&error) != nullptr ||
                         dynamic_cast<const std::length_error*>(&error) != nullptr;
  if (is_memory) return "the machine's memory does not suffice";
  if (const auto* file = dynamic_cast<const std::filesystem::filesystem_error*>(&error))
    return "'" + file->path1().string() + "': " + file->code().message();
  if (const auto* system = dynamic_cast<const std::system_error*>(&error)) {
    const bool is_thread = system->code() == std::errc::resource_unavailable_try_again;
    return (is_thread ? "no more threads can be started: " : "") + system->code().message();
  }
  return error.what();
}

std::string error_text(lua_State* L, int index) {
  index = lua_absindex(L, index);
  if (lua_checkstack(L, 6) == 0) return "error without a text";
  if (lua_istable(L, index)) {
    if (luaL_getmetafield(L, index, "__tostring") == LUA_TNIL) return "(the error is a table)";
    lua_pop(L, 1);
  }
  lua_pushcfunction(L, [](lua_State* S) {
    luaL_tolstring(S, 1, nullptr);
    return 1;
  });
  lua_pushvalue(L, index);
  std::string text = "(the error is a " + std::string(luaL_typename(L, index)) + " whose __tostring fails)";
  if (lua_pcall(L, 1, 1, 0) == LUA_OK) {
    std::size_t size = 0;
    const char* const found = lua_tolstring(L, -1, &size);
    text.assign(found, size);
  }
  lua_pop(L, 1);
  return text;
}

std::string type_name_at(lua_State* L, int index) {
  const int kind = luaL_getmetafield(L, index, "__name");
  if (kind == LUA_TNIL) return luaL_typename(L, index);
  std::string name = kind == LUA_TSTRING ? lua_tostring(L, -1) : luaL_typename(L, index);
  lua_pop(L, 1);
  return name;
}

std::string function_name(lua_State* L) {
  const int upvalue = lua_upvalueindex(1);
  return lua_type(L, upvalue) == LUA_TSTRING ? lua_tostring(L, upvalue) : "";
}

void mismatch(lua_State* L, int index, std::string_view expected) {
  throw ArgumentError(std::string(expected) + " expected, got " + type_name_at(L, index));
}

}  // namespace gpubench::lua
