// gb._native.classes: the bound classes and their members, for the test that holds the reference against them.
// gb._native.parameters: how many arguments a function of the Lua library takes.
// gb._native.name_members: makes a misspelt name in gb and the tables in it an error.
#include "lua/api/openers.h"
#include "lua/bind/bind.h"

namespace gpubench::lua {
namespace {

std::vector<std::string> names_in(lua_State* L, int table) {
  std::vector<std::string> names;
  lua_pushnil(L);
  while (lua_next(L, table)) {
    lua_pop(L, 1);
    names.emplace_back(lua_tostring(L, -1));
  }
  return names;
}

/// Class -> "methods", "getters", "setters", "metatable" -> names.
std::map<std::string, std::map<std::string, std::vector<std::string>>> classes(lua_State* L) {
  std::map<std::string, std::map<std::string, std::vector<std::string>>> result;
  push_class_registry(L);
  const int registry = lua_gettop(L);
  for (const std::string& name : names_in(L, registry)) {
    lua_getfield(L, registry, name.c_str());
    for (const char* part : {"methods", "getters", "setters", "metatable"}) {
      lua_getfield(L, -1, part);
      result[name][part] = names_in(L, lua_gettop(L));
      lua_pop(L, 1);
    }
    lua_pop(L, 1);
  }
  lua_pop(L, 1);
  return result;
}

/// Called when the Lua library has added its own.
void name_all_members(lua_State* L) {
  const Module gb = Module::root(L);
  name_members(L, gb.index(), "gb");
}

/// How many arguments a Lua function takes; none where it takes any number.
std::optional<int> parameters(lua_State* L, const LuaFunction& function) {
  function.reference().push(L);
  lua_Debug frame{};
  lua_getinfo(L, ">u", &frame);
  if (frame.isvararg != 0) return std::nullopt;
  return frame.nparams;
}

}  // namespace

void open_reflection(lua_State* L) {
  const Module gb = Module::root(L);
  const Module native = gb.submodule("_native");
  native.function<&classes>("classes").function<&name_all_members>("name_members").function<&parameters>("parameters");
}

}  // namespace gpubench::lua
