#include "lua/bind/module.h"

#include <algorithm>
#include <vector>

#include "core/base/known_names.h"
#include "lua/bind/error.h"
#include "lua/bind/other_names.h"

namespace gpubench::lua {
namespace {
constexpr const char* root_key = "gpubench.root";
constexpr const char* classes_key = "gpubench.classes";
constexpr const char* options_key = "gpubench.options";

int no_module_member(lua_State* L) {
  if (!lua_istable(L, 1) || lua_type(L, 2) != LUA_TSTRING) return 0;
  const std::string key = Value<std::string>::read(L, 2);
  std::vector<std::string> names;
  for (lua_pushnil(L); lua_next(L, 1) != 0; lua_pop(L, 1)) {
    if (lua_type(L, -2) != LUA_TSTRING) continue;
    std::string name = Value<std::string>::read(L, -2);
    if (!name.starts_with('_')) names.push_back(std::move(name));
  }
  std::ranges::sort(names);
  throw ArgumentError(no_such(L, "no", function_name(L), key, names_of(names)));
}

}  // namespace

void name_members(lua_State* L, int index, const std::string& name) {
  const int table = lua_absindex(L, index);
  if (lua_getmetatable(L, table) != 0) return lua_pop(L, 1);
  luaL_checkstack(L, 4, "nested tables");
  lua_createtable(L, 0, 2);
  Value<std::string>::push(L, name);
  lua_pushcclosure(L, entry<&no_module_member>, 1);
  lua_setfield(L, -2, "__index");
  lua_pushboolean(L, 0);  // what getmetatable() shows to scripts
  lua_setfield(L, -2, "__metatable");
  lua_setmetatable(L, table);
  for (lua_pushnil(L); lua_next(L, table) != 0; lua_pop(L, 1)) {
    if (lua_type(L, -2) != LUA_TSTRING || !lua_istable(L, -1)) continue;
    const auto key = Value<std::string>::read(L, -2);
    if (!key.starts_with('_')) name_members(L, -1, name + "." + key);
  }
}

void push_class_registry(lua_State* L) {
  luaL_getsubtable(L, LUA_REGISTRYINDEX, classes_key);
}

void keep_declared_options(lua_State* L, const std::string& name, lua_CFunction declared) {
  if (declared == nullptr) return;
  luaL_getsubtable(L, LUA_REGISTRYINDEX, options_key);
  lua_pushcfunction(L, declared);
  lua_setfield(L, -2, name.c_str());
  lua_pop(L, 1);
}

void push_declared_options(lua_State* L) {
  luaL_checkstack(L, 8, "declared options");
  luaL_getsubtable(L, LUA_REGISTRYINDEX, options_key);
  const int functions = lua_gettop(L);
  lua_newtable(L);
  for (lua_pushnil(L); lua_next(L, functions) != 0;) {
    lua_pushvalue(L, -2);
    lua_insert(L, -2);
    lua_call(L, 0, 1);
    lua_settable(L, functions + 1);
  }
  lua_remove(L, functions);
}

void push_root(lua_State* L) {
  luaL_getsubtable(L, LUA_REGISTRYINDEX, root_key);
}

Module Module::root(lua_State* L) {
  push_root(L);
  return {L, "gb"};
}

Module Module::submodule(const char* name) const& {
  luaL_getsubtable(L_, index_, name);
  return {L_, name_ + "." + name};
}

Module::~Module() {
  lua_settop(L_, index_ - 1);
}

const Module& Module::constructor(const char* name, StackFunction make) const {
  push_named(L_, name_ + "." + name, std::move(make));
  lua_setfield(L_, index_, name);
  return *this;
}

void Module::add_function(const char* name, lua_CFunction code) const {
  lua_pushstring(L_, (name_ + "." + name).c_str());
  lua_pushcclosure(L_, code, 1);
  lua_setfield(L_, index_, name);
}

}  // namespace gpubench::lua
