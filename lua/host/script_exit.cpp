#include "lua/host/script_exit.h"

#include "lua/bind/bind.h"
#include "lua/bind/machine.h"

namespace gpubench::lua {
namespace {

constexpr int failed = 1;

int status_at(lua_State* L, int index) {
  if (lua_isnoneornil(L, index)) return 0;
  if (lua_isboolean(L, index)) return lua_toboolean(L, index) != 0 ? 0 : failed;
  int is_integer = 0;
  const lua_Integer status = lua_tointegerx(L, index, &is_integer);
  if (is_integer != 0 && status >= 0 && status <= 255) return static_cast<int>(status);
  throw ArgumentError("os.exit: argument #1: true, false or an integer from 0 to 255 expected");
}

int exit_script(lua_State* L) {
  Machine::of(L).exit_status = status_at(L, 1);
  check_exit(L);
  return 0;
}

}  // namespace

void check_exit(lua_State* L) {
  if (Machine::of(L).exit_status) throw ScriptExit("os.exit");
}

void open_exit(lua_State* L) {
  lua_getglobal(L, LUA_OSLIBNAME);
  lua_pushcfunction(L, entry<&exit_script>);
  lua_setfield(L, -2, "exit");
  lua_pop(L, 1);
}

}  // namespace gpubench::lua
