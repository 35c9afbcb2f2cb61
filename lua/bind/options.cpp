#include "lua/bind/options.h"

#include <algorithm>

#include "core/base/known_names.h"

namespace gpubench::lua {

std::string options_expected(lua_State* L, int index, std::string_view name) {
  std::string text = "table of options expected, got " + type_name_at(L, index);
  if (!name.empty()) text += "; options are named: { " + std::string(name) + " = ... }";
  return text;
}

void reject_unknown_options(lua_State* L, int index, const FieldName* fields, std::size_t count) {
  const std::span known(fields, count);
  lua_pushnil(L);
  while (lua_next(L, index)) {
    lua_pop(L, 1);
    if (lua_type(L, -1) == LUA_TNUMBER) {
      if (std::ranges::any_of(known, [](const FieldName& f) { return f.kind == FieldKind::positional; })) continue;
      throw ArgumentError("options are named; found a positional value");
    }
    const std::string key = lua_type(L, -1) == LUA_TSTRING ? Value<std::string>::read(L, -1) : type_name_at(L, -1);
    std::vector<std::string_view> names;
    for (const FieldName& f : known)
      if (f.kind != FieldKind::positional) names.push_back(f.name);
    if (std::ranges::find(names, key) == names.end())
      throw ArgumentError("unknown option '" + key + "'" + known_names(key, names, "", "option " + function_name(L)));
  }
}

void name_positions(lua_State* L, std::span<const char* const> names) {
  const int count = lua_gettop(L);
  const bool is_list = count > 0 && lua_istable(L, count) && lua_rawlen(L, count) > 0;
  const bool has_table = count > 0 && lua_istable(L, count) && !is_list;
  const int values = has_table ? count - 1 : count;
  if (values == 0) return;
  if (values > static_cast<int>(names.size())) {
    const auto surplus = static_cast<int>(names.size()) + 1;
    throw ArgumentError("argument #" + std::to_string(surplus) + ": " + options_expected(L, surplus, {}));
  }
  luaL_checkstack(L, 6, "arguments");
  lua_newtable(L);
  if (has_table) {
    for (lua_pushnil(L); lua_next(L, count) != 0;) {
      lua_pushvalue(L, -2);
      lua_insert(L, -2);
      lua_rawset(L, count + 1);
    }
  }
  for (int i = 0; i < values; ++i) {
    if (lua_isnil(L, i + 1)) continue;
    const char* const name = names[static_cast<std::size_t>(i)];
    if (lua_getfield(L, count + 1, name) != LUA_TNIL)
      throw ArgumentError(std::string("option '") + name + "' is given twice, by its place and by its name");
    lua_pop(L, 1);
    lua_pushvalue(L, i + 1);
    lua_setfield(L, count + 1, name);
  }
  lua_replace(L, 1);
  lua_settop(L, 1);
}

void push_positional_values(lua_State* L, int index) {
  const auto length = static_cast<lua_Integer>(lua_rawlen(L, index));
  lua_createtable(L, static_cast<int>(length), 0);
  for (lua_Integer k = 1; k <= length; ++k) {
    lua_rawgeti(L, index, k);
    lua_rawseti(L, -2, k);
  }
}

void option_required(std::string_view name) {
  throw ArgumentError("option '" + std::string(name) + "' is required");
}

void option_failed(std::string_view name, const ArgumentError& error) {
  throw ArgumentError("option '" + std::string(name) + "': " + error.what());
}

}  // namespace gpubench::lua
