#include "lua/bind/module.h"

namespace gpubench::lua {
namespace {
constexpr const char* root_key = "gpubench.root";
constexpr const char* classes_key = "gpubench.classes";
}  // namespace

void push_class_registry(lua_State* L) {
  luaL_getsubtable(L, LUA_REGISTRYINDEX, classes_key);
}

Module Module::root(lua_State* L) {
  luaL_getsubtable(L, LUA_REGISTRYINDEX, root_key);
  return {L, "gb"};
}

Module Module::submodule(const char* name) const& {
  luaL_getsubtable(L_, index_, name);
  return {L_, name_ + "." + name};
}

Module::~Module() {
  lua_settop(L_, index_ - 1);
}

void Module::add_function(const char* name, lua_CFunction code) const {
  lua_pushstring(L_, (name_ + "." + name).c_str());
  lua_pushcclosure(L_, code, 1);
  lua_setfield(L_, index_, name);
}

}  // namespace gpubench::lua
