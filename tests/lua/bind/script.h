// Runs a piece of Lua in a fresh state whose `gb` is a global; run() gives what it returns, error() the text it fails
// with.
#pragma once
#include <lua.hpp>
#include <stdexcept>
#include <string>

#include "lua/bind/bind.h"

namespace gpubench::lua {

class Script {
 public:
  Script() {
    luaL_openlibs(state_);
    const Module gb = Module::root(state_);
    lua_pushvalue(state_, gb.index());
    lua_setglobal(state_, "gb");
  }

  lua_State* state() const { return state_.get(); }

  std::string run(const std::string& text) {
    if (luaL_loadbuffer(state_, text.data(), text.size(), "=test") != LUA_OK)
      throw std::runtime_error(lua_tostring(state_, -1));
    protected_call(state_, 0, 1);
    std::string result = luaL_tolstring(state_, -1, nullptr);
    lua_pop(state_, 2);
    return result;
  }

  std::string error(const std::string& text) {
    try {
      return "no error, but " + run(text);
    } catch (const std::exception&) {
      return Machine::of(state_).delivered.text;
    }
  }

 private:
  State state_;
};

}  // namespace gpubench::lua
