#include <fmt/format.h>
#include <lua.hpp>
#include <string>
#include <string_view>

#include "lua/api/session.h"
#include "lua/bind/bind.h"
#include "lua/bind/machine.h"
#include "lua/host/natives.h"

namespace gpubench::lua {
namespace {

/// What the names of chunks that come from files begin with.
constexpr char file_prefix = '@';

int methods(lua_State* L) {
  const auto name = Value<std::string>::read(L, 1);
  push_class_registry(L);
  if (lua_getfield(L, -1, name.c_str()) != LUA_TTABLE) throw ArgumentError(fmt::format("there is no class '{}'", name));
  lua_getfield(L, -1, "methods");
  return 1;
}

/// Pushes file and line; nothing if the frame is not a script's.
int push_place(lua_State* L, const lua_Debug& frame, int line) {
  const std::string_view source = frame.source;
  if (source.empty() || source.front() != file_prefix) return 0;
  Value<std::string>::push(L, std::string(source.substr(1)));
  Value<int>::push(L, line);
  return 2;
}

// Level 0 is this function, level 1 the Lua function in place of the script's callee, level 2 its caller.
int call_site(lua_State* L) {
  lua_Debug frame{};
  if (lua_getstack(L, 1, &frame) == 0) return 0;
  lua_getinfo(L, "t", &frame);
  if (frame.istailcall != 0) return 0;  // the caller's frame is gone
  for (int level = 2; lua_getstack(L, level, &frame) != 0; ++level) {
    lua_getinfo(L, "Sl", &frame);
    if (frame.currentline > 0) return push_place(L, frame, frame.currentline);
  }
  return 0;
}

int definition(lua_State* L) {
  if (!lua_isfunction(L, 1)) throw ArgumentError("argument #1: function expected, got " + type_name_at(L, 1));
  lua_Debug frame{};
  lua_settop(L, 1);
  lua_getinfo(L, ">S", &frame);
  return push_place(L, frame, frame.linedefined);
}

void begin_run(lua_State* L) {
  session_of(L).begin_run();
}

}  // namespace

void open_interception(lua_State* L) {
  const Module gb = Module::root(L);
  const Module native = gb.submodule("_native");
  native.submodule("host")
      .function<&methods, 1>("methods")
      .function<&call_site, any_number>("call_site")
      .function<&definition, 1>("definition")
      .function<&begin_run>("begin_run");
}

}  // namespace gpubench::lua
