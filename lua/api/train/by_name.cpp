#include "lua/api/train/by_name.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gpubench::lua {
namespace {

/// Throws ArgumentError for a key of the table that is no possible name.
void require_possible(lua_State* L, int table, const PossibleNames& possible, const std::string& what) {
  for (lua_pushnil(L); lua_next(L, table) != 0; lua_pop(L, 1)) {
    if (lua_type(L, -2) != LUA_TSTRING) {
      throw ArgumentError(what + "a list or a table by names is expected, got a table with both");
    }
    const auto name = Value<std::string>::read(L, -2);
    if (std::ranges::find(possible.names, name) != possible.names.end()) continue;
    throw ArgumentError(fmt::format("{0}the model has no {1} '{2}'; its {1}s: {3}", what, possible.kind, name,
                                    fmt::join(possible.names, ", ")));
  }
}

bool has_names(lua_State* L, int table) {
  if (!lua_istable(L, table)) return false;
  for (lua_pushnil(L); lua_next(L, table) != 0; lua_pop(L, 1)) {
    if (lua_type(L, -2) != LUA_TSTRING) continue;
    lua_pop(L, 2);
    return true;
  }
  return false;
}

}  // namespace

PossibleNames names_of_inputs(const Model& model) {
  return {model.input_names(), "input"};
}

PossibleNames names_of_outputs(const Model& model) {
  return {model.output_names(), "output"};
}

bool push_in_order(lua_State* L, int index, const PossibleNames& possible, const std::string& what) {
  index = lua_absindex(L, index);
  luaL_checkstack(L, 4, "values by names");
  if (!has_names(L, index)) return false;
  require_possible(L, index, possible, what);
  lua_createtable(L, static_cast<int>(possible.names.size()), 0);
  for (std::size_t i = 0; i < possible.names.size(); ++i) {
    lua_pushlstring(L, possible.names[i].data(), possible.names[i].size());
    if (lua_rawget(L, index) == LUA_TNIL) {
      throw ArgumentError(fmt::format("{0}the model's {1} '{2}' is missing; its {1}s: {3}", what, possible.kind,
                                      possible.names[i], fmt::join(possible.names, ", ")));
    }
    lua_rawseti(L, -2, static_cast<lua_Integer>(i + 1));
  }
  return true;
}

}  // namespace gpubench::lua
