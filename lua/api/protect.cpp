// gb.skip, and what the Lua library needs to survive a failing point: gb._native.protect, fail, raise_interrupt.
#include "core/base/error.h"
#include "core/base/interrupt.h"
#include "lua/api/openers.h"
#include "lua/api/point_status.h"
#include "lua/bind/bind.h"
#include "lua/bind/machine.h"

namespace gpubench::lua {
namespace {

void skip(const std::string& reason) {
  throw PointSkipped(reason);
}

int push_failure(lua_State* L, const char* status, const std::string& reason) {
  const PassingError& error = Machine::of(L).delivered;
  lua_settop(L, 0);
  lua_pushboolean(L, 0);
  lua_pushstring(L, status);
  lua_pushlstring(L, reason.data(), reason.size());
  lua_pushlstring(L, error.traceback.data(), error.traceback.size());
  return 4;
}

// The handler of Ctrl-C has set a hook that stops Lua code; the library needs to run to keep what is finished.
void let_lua_run(lua_State* L) {
  lua_sethook(L, nullptr, 0, 0);
  lua_sethook(Machine::of(L).main(), nullptr, 0, 0);
}

// protect(f, ...) -> true, results... | false, status, reason, traceback; status as in the column of results, or
// "interrupted".
int protect(lua_State* L) {
  if (!Value<LuaFunction>::matches(L, 1))
    throw ArgumentError("argument #1: function expected, got " + type_name_at(L, 1));
  const char* status = "error";
  try {
    protected_call(L, lua_gettop(L) - 1, LUA_MULTRET);
    lua_pushboolean(L, 1);
    lua_insert(L, 1);
    return lua_gettop(L);
  } catch (const OutOfMemory&) {
    status = "out_of_memory";
  } catch (const PointSkipped& skipped) {
    return push_failure(L, "skipped", skipped.what());
  } catch (const std::exception&) {
  }
  if (!interrupt_requested()) return push_failure(L, status, Machine::of(L).delivered.text);
  let_lua_run(L);
  return push_failure(L, "interrupted", "interrupted");
}

void fail(const std::string& message) {
  throw Error(message);
}

}  // namespace

void open_protect(lua_State* L) {
  const Module gb = Module::root(L);
  gb.function<&skip>("skip");
  const Module native = gb.submodule("_native");
  native.function<&protect>("protect").function<&fail>("fail").function<&check_interrupt>("check_interrupt");
}

}  // namespace gpubench::lua
