// The option `passes = { fuse_epilogue = false }` of everything that is planned.
#pragma once
#include <map>
#include <string>

#include "core/passes/pass.h"
#include "lua/bind/value.h"

namespace gpubench::lua {

struct PassSwitches {
  std::map<std::string, bool> on;

  PassOptions options() const {
    PassOptions result;
    for (const auto& [name, enabled] : on) {
      if (!enabled) result.disabled.insert(name);
    }
    return result;
  }
};

template <>
struct Value<PassSwitches> {
  using Table = Value<std::map<std::string, bool>>;
  static std::string expected() { return "table of pass names and booleans"; }
  static bool matches(lua_State* L, int index) { return Table::matches(L, index); }
  static PassSwitches read(lua_State* L, int index) { return {Table::read(L, index)}; }
};

}  // namespace gpubench::lua
