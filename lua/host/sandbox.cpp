// The sandbox is native because a script can replace everything that Lua code looks up, including string methods.
#include <lua.hpp>
#include <string>
#include <string_view>

#include "core/base/error.h"
#include "lua/api/output_path.h"
#include "lua/bind/bind.h"
#include "lua/bind/load_text.h"
#include "lua/host/natives.h"

namespace gpubench::lua {
namespace {

// Upvalues of every function here: its name for messages, then the function that it replaces.
constexpr int name_upvalue = 1;
constexpr int original_upvalue = 2;

const char* own_name(lua_State* L) {
  return lua_tostring(L, lua_upvalueindex(name_upvalue));
}

int refuse(lua_State* L) {
  throw Error(std::string(own_name(L)) + " is not available to scripts (--trusted allows it)");
}

int refuse_field(lua_State* L) {
  throw Error(std::string(own_name(L)) + "." + luaL_tolstring(L, 2, nullptr) +
              " is not available to scripts (--trusted allows it)");
}

// The path among the arguments becomes the one that it leads to.
template <auto Path = &output_path>
void confine_argument(lua_State* L, int index) {
  if (lua_isstring(L, index) == 0) return;
  std::size_t size = 0;
  const char* text = lua_tolstring(L, index, &size);
  Value<std::string>::push(L, Path(L, {text, size}, own_name(L)));
  lua_replace(L, index);
}

// No C++ object may be alive in here: an error of the original leaves through it.
int call_original(lua_State* L) {
  lua_pushvalue(L, lua_upvalueindex(original_upvalue));
  lua_insert(L, 1);
  lua_call(L, lua_gettop(L) - 1, LUA_MULTRET);
  return lua_gettop(L);
}

int open_file(lua_State* L) {
  const char* mode = lua_tostring(L, 2);
  if (mode && std::string_view(mode).find_first_of("wa+") != std::string_view::npos) confine_argument(L, 1);
  return call_original(L);
}

int call_with_path(lua_State* L) {
  confine_argument(L, 1);
  return call_original(L);
}

int remove_file(lua_State* L) {
  confine_argument<&path_in_output>(L, 1);
  return call_original(L);
}

int rename_file(lua_State* L) {
  confine_argument<&path_to_rename>(L, 1);
  confine_argument<&path_in_output>(L, 2);
  return call_original(L);
}

int finish_file(lua_State* L, int, lua_KContext) {
  return lua_gettop(L);
}

int do_file(lua_State* L) {
  const char* file = luaL_optstring(L, 1, nullptr);
  lua_settop(L, 0);
  if (luaL_loadfilex(L, file, "t") != LUA_OK) throw ScriptError(lua_tostring(L, -1));
  lua_callk(L, 0, LUA_MULTRET, 0, continuation_entry<&finish_file>);
  return lua_gettop(L);
}

// In the table on top of the stack.
void replace(lua_State* L, const std::string& library, const char* name, lua_CFunction function) {
  Value<std::string>::push(L, library.empty() ? name : library + "." + name);
  lua_getfield(L, -2, name);
  lua_pushcclosure(L, function, 2);
  lua_setfield(L, -2, name);
}

void close_io(lua_State* L) {
  lua_getglobal(L, LUA_IOLIBNAME);
  replace(L, "io", "open", entry<&open_file>);
  replace(L, "io", "output", entry<&call_with_path>);
  for (const char* name : {"popen", "tmpfile"}) replace(L, "io", name, entry<&refuse>);
  lua_pop(L, 1);
}

void close_os(lua_State* L) {
  lua_getglobal(L, LUA_OSLIBNAME);
  replace(L, "os", "remove", entry<&remove_file>);
  replace(L, "os", "rename", entry<&rename_file>);
  for (const char* name : {"execute", "exit", "tmpname", "setlocale"}) replace(L, "os", name, entry<&refuse>);
  lua_pop(L, 1);
}

void close_loading(lua_State* L) {
  lua_pushglobaltable(L);
  for (const auto& [name, mode_index] : {std::pair{"load", 3}, std::pair{"loadfile", 2}}) {
    lua_getfield(L, -1, name);
    push_text_only(L, mode_index);
    lua_setfield(L, -2, name);
  }
  replace(L, "", "dofile", entry<&do_file>);
  lua_getfield(L, -1, LUA_LOADLIBNAME);
  replace(L, "package", "loadlib", entry<&refuse>);
  lua_pushliteral(L, "");
  lua_setfield(L, -2, "cpath");
  lua_pop(L, 2);
}

void close_debug(lua_State* L) {
  lua_newtable(L);
  lua_newtable(L);
  lua_pushliteral(L, "debug");
  lua_pushcclosure(L, entry<&refuse_field>, 1);
  lua_setfield(L, -2, "__index");
  lua_pushboolean(L, 0);
  lua_setfield(L, -2, "__metatable");
  lua_setmetatable(L, -2);
  luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
  lua_pushvalue(L, -2);
  lua_setfield(L, -2, LUA_DBLIBNAME);
  lua_pop(L, 1);
  lua_setglobal(L, LUA_DBLIBNAME);
}

}  // namespace

void close_sandbox(lua_State* L) {
  close_io(L);
  close_os(L);
  close_loading(L);
  close_debug(L);
}

}  // namespace gpubench::lua
