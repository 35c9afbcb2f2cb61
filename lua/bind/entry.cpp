#include "lua/bind/entry.h"

namespace gpubench::lua {

// Functions registered by a module or class keep their qualified name as first upvalue ("Model:fit").
void capture_exception(lua_State* L, const std::exception& error) {
  Machine& machine = Machine::of(L);
  const std::exception_ptr exception = std::current_exception();
  PassingError passing;
  if (exception == machine.delivered.exception) {
    passing = machine.delivered;
  } else {
    std::string text = text_of(error);
    if (dynamic_cast<const ArgumentError*>(&error) && lua_type(L, lua_upvalueindex(1)) == LUA_TSTRING)
      text = std::string(lua_tostring(L, lua_upvalueindex(1))) + ": " + text;
    passing = {exception, script_position(L) + text, {}};
  }
  lua_pushlstring(L, passing.text.data(), passing.text.size());
  machine.pending.add(std::move(passing));
}

void argument_failed(const ArgumentCursor& cursor, int index, const ArgumentError& error) {
  if (index <= cursor.hidden)
    throw ArgumentError(error.what() + std::string(lua_isuserdata(cursor.L, index) ? "" : " (call methods with ':')"));
  throw ArgumentError("argument #" + std::to_string(index - cursor.hidden) + ": " + error.what());
}

void reject_surplus(lua_State* L, int taken, int hidden) {
  const int given = lua_gettop(L);
  for (int index = taken + 1; index <= given; ++index) {
    if (lua_isnil(L, index)) continue;
    throw ArgumentError("takes at most " + std::to_string(taken - hidden) + " argument" +
                        (taken - hidden == 1 ? "" : "s") + ", got " + std::to_string(given - hidden));
  }
}

}  // namespace gpubench::lua
