#include "core/base/interrupt.h"
#include "lua/bind/bind.h"
#include "lua/bind/machine.h"
#include "lua/host/natives.h"
#include "lua/host/script_exit.h"

namespace gpubench::lua {
namespace {

// `ctx` is the index below the results.
int finish_call(lua_State* L, int status, lua_KContext context) {
  if (status == LUA_OK || status == LUA_YIELD) return lua_gettop(L) - static_cast<int>(context);
  // In a turn of the program it waits for the turn's end.
  if (is_turn_of_script()) check_interrupt();
  check_exit(L);
  lua_pushboolean(L, 0);
  lua_insert(L, -2);
  return 2;
}

int protected_call_of_script(lua_State* L) {
  if (lua_gettop(L) == 0) throw ArgumentError("pcall: argument #1: value expected, got no value");
  lua_pushboolean(L, 1);
  lua_insert(L, 1);
  return finish_call(L, lua_pcallk(L, lua_gettop(L) - 2, LUA_MULTRET, 0, 0, continuation_entry<&finish_call>), 0);
}

// Lua runs no hook in the handler of an error that a hook raises, so nothing could stop a script's own handler then.
int handle_error(lua_State* L) {
  if (interrupt_requested() || timeout_requested()) return 1;
  lua_pushvalue(L, lua_upvalueindex(1));
  lua_insert(L, 1);
  lua_call(L, lua_gettop(L) - 1, LUA_MULTRET);
  return lua_gettop(L);
}

int protected_call_with_handler(lua_State* L) {
  if (!lua_isfunction(L, 2)) throw ArgumentError("xpcall: argument #2: function expected, got " + type_name_at(L, 2));
  if (lua_iscfunction(L, 2) == 0) {
    lua_pushvalue(L, 2);
    lua_pushcclosure(L, entry<&handle_error>, 1);
    lua_replace(L, 2);
  }
  // function handler ... -> function handler true function ...
  lua_pushboolean(L, 1);
  lua_pushvalue(L, 1);
  lua_rotate(L, 3, 2);
  return finish_call(L, lua_pcallk(L, lua_gettop(L) - 4, LUA_MULTRET, 2, 2, continuation_entry<&finish_call>), 2);
}

// The coroutine at argument 1.
lua_State* coroutine_argument(lua_State* L, const char* function) {
  if (lua_State* const coroutine = lua_tothread(L, 1)) return coroutine;
  throw ArgumentError(std::string(function) + ": argument #1: coroutine expected, got " + type_name_at(L, 1));
}

// Returns the number of values left on the caller's stack, or -1 with an error value there.
int resume_coroutine(lua_State* L, lua_State* coroutine, int arguments) {
  if (lua_checkstack(coroutine, arguments) == 0) throw ArgumentError("coroutine.resume: too many arguments");
  lua_xmove(L, coroutine, arguments);
  int results = 0;
  int status = LUA_OK;
  {
    const Running running(coroutine);  // for the signal handler
    check_interrupt();                 // one that came before the handler could see this coroutine
    status = lua_resume(coroutine, L, arguments, &results);
  }
  check_interrupt();
  check_exit(L);
  const bool failed = status != LUA_OK && status != LUA_YIELD;
  const int moved = failed ? 1 : results;
  if (lua_checkstack(L, moved + 1) == 0) throw ArgumentError("coroutine.resume: too many results");
  lua_xmove(coroutine, L, moved);
  return failed ? -1 : results;
}

int resume(lua_State* L) {
  const int results = resume_coroutine(L, coroutine_argument(L, "coroutine.resume"), lua_gettop(L) - 1);
  lua_pushboolean(L, results >= 0);
  lua_insert(L, results < 0 ? -2 : -(results + 1));
  return results < 0 ? 2 : results + 1;
}

// Closing handlers run on the coroutine that is closed. Upvalue: Lua's own function, which knows which can be closed.
int close_coroutine(lua_State* L) {
  lua_State* const coroutine = coroutine_argument(L, "coroutine.close");
  lua_pushvalue(L, lua_upvalueindex(1));
  lua_insert(L, 1);
  int status = LUA_OK;
  {
    const Running running(coroutine);  // for the signal handler
    check_interrupt();                 // one that came before the handler could see this coroutine
    status = lua_pcall(L, lua_gettop(L) - 1, LUA_MULTRET, 0);
  }
  check_interrupt();
  check_exit(L);
  if (status != LUA_OK) throw ScriptError(error_text(L, -1));
  return lua_gettop(L);
}

constexpr const char* wrap = R"(
local create, resume, close = coroutine.create, coroutine.resume, coroutine.close
local function pass(co, ok, ...)
  if ok then return ... end
  close(co)
  error((...), 0)
end
function coroutine.wrap(f)
  local co = create(f)
  return function(...) return pass(co, resume(co, ...)) end
end
)";

}  // namespace

void open_protected_calls(lua_State* L) {
  lua_pushcfunction(L, entry<&protected_call_of_script>);
  lua_setglobal(L, "pcall");
  lua_pushcfunction(L, entry<&protected_call_with_handler>);
  lua_setglobal(L, "xpcall");
  lua_getglobal(L, "coroutine");
  lua_pushcfunction(L, entry<&resume>);
  lua_setfield(L, -2, "resume");
  lua_getfield(L, -1, "close");
  lua_pushcclosure(L, entry<&close_coroutine>, 1);
  lua_setfield(L, -2, "close");
  lua_pop(L, 1);
  if (luaL_loadbufferx(L, wrap, std::string_view(wrap).size(), "=gpubench/coroutine.lua", "t") == LUA_OK)
    protected_call(L, 0, 0);
}

}  // namespace gpubench::lua
