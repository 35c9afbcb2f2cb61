#include "lua/api/train/config_value.h"

#include <algorithm>
#include <fmt/format.h>

#include "core/nn/architecture.h"
#include "lua/api/train/layers.h"
#include "lua/api/train/script_function.h"
#include "lua/bind/bind.h"

namespace gpubench::lua {
namespace {

bool is_list(lua_State* L, int index) {
  return lua_istable(L, index) && lua_rawlen(L, index) > 0;
}

/// A list of integers, or of numbers if one of them is no integer; {{1, 2}, {3, 4}} is {1, 2, 3, 4}.
ConfigValue read_list(lua_State* L, int index) {
  index = lua_absindex(L, index);
  const bool nested = lua_rawgeti(L, index, 1) == LUA_TTABLE;
  lua_pop(L, 1);
  for (std::size_t i = 1; !nested && i <= lua_rawlen(L, index); ++i) {
    const bool number = lua_rawgeti(L, index, static_cast<lua_Integer>(i)) == LUA_TNUMBER;
    const bool whole = Value<std::int64_t>::matches(L, -1);
    lua_pop(L, 1);
    if (number && !whole) return Value<Numbers>::read(L, index);
  }
  if (!nested) return Value<Shape>::read(L, index);
  Shape all;
  for (const Shape& part : Value<std::vector<Shape>>::read(L, index)) all.insert(all.end(), part.begin(), part.end());
  return all;
}

bool holds_layers(lua_State* L, int index) {
  lua_rawgeti(L, index, 1);
  const bool holds = Value<std::shared_ptr<ScriptLayer>>::matches(L, -1);
  lua_pop(L, 1);
  return holds;
}

std::string read_layers(lua_State* L, int index) {
  std::vector<LayerPtr> layers;
  for (const auto& layer : Value<std::vector<std::shared_ptr<ScriptLayer>>>::read(L, index)) {
    layers.push_back(layer->layer);
  }
  return layers_to_text(layers);
}

ConfigValue read_value(lua_State* L, int index) {
  switch (lua_type(L, index)) {
    case LUA_TBOOLEAN:
      return lua_toboolean(L, index) != 0;
    case LUA_TNUMBER:
      if (lua_isinteger(L, index) != 0) return static_cast<std::int64_t>(lua_tointeger(L, index));
      return lua_tonumber(L, index);
    case LUA_TSTRING:
      return Value<std::string>::read(L, index);
    case LUA_TTABLE:
      if (holds_layers(L, index)) return read_layers(L, index);
      return read_list(L, index);
    case LUA_TFUNCTION:
    case LUA_TUSERDATA:
      // Before functions: a layer can be called too.
      if (Value<std::shared_ptr<ScriptLayer>>::matches(L, index)) {
        const LayerPtr layer = Value<std::shared_ptr<ScriptLayer>>::read(L, index)->layer;
        // A custom cell is known by its function; a text cannot hold it.
        const bool is_cell = layer->kind() == "custom" && !layer->state_sizes().empty();
        return is_cell ? ConfigValue(layer->config().function("function")) : ConfigValue(layer_to_text(*layer));
      }
      if (Value<LuaFunction>::matches(L, index)) return lambda_function(Value<LuaFunction>::read(L, index));
      [[fallthrough]];
    default:
      throw ArgumentError(fmt::format("a boolean, number, string, function or list of numbers is expected, got {}",
                                      type_name_at(L, index)));
  }
}

/// Of the fields that have no position, the first that holds values of this type; empty: none.
std::string name_for(lua_State* L, int index, const std::vector<std::string>& positional,
                     const std::vector<ConfigField>& fields) {
  const int type = lua_type(L, index);
  for (const ConfigField& field : fields) {
    const bool is_number = std::holds_alternative<double>(field.fallback) ||
                           (lua_isinteger(L, index) != 0 && std::holds_alternative<std::int64_t>(field.fallback));
    const bool fits = (type == LUA_TBOOLEAN && std::holds_alternative<bool>(field.fallback)) ||
                      (type == LUA_TNUMBER && is_number) ||
                      (type == LUA_TSTRING && std::holds_alternative<std::string>(field.fallback)) ||
                      (type == LUA_TFUNCTION && field.or_function);
    if (fits && std::ranges::find(positional, field.name) == positional.end()) return field.name;
  }
  return {};
}

}  // namespace

ConfigEntries read_config_table(lua_State* L, int index) {
  index = lua_absindex(L, index);
  ConfigEntries entries;
  lua_pushnil(L);
  while (lua_next(L, index) != 0) {
    if (lua_type(L, -2) != LUA_TSTRING) throw ArgumentError("options are named; found a positional value");
    std::string name = Value<std::string>::read(L, -2);
    try {
      entries.emplace_back(name, read_value(L, -1));
    } catch (const ArgumentError& error) {
      throw ArgumentError(fmt::format("option '{}': {}", name, error.what()));
    }
    lua_pop(L, 1);
  }
  return entries;
}

ConfigEntries read_config(lua_State* L, int first, const std::vector<std::string>& positional,
                          const std::vector<ConfigField>& fields) {
  ConfigEntries entries;
  const int count = lua_gettop(L) - first + 1;
  for (int i = 0; i < count; ++i) {
    const int index = first + i;
    if (lua_istable(L, index) && !is_list(L, index)) {
      if (i + 1 != count) throw ArgumentError(fmt::format("argument #{}: the options must come last", i + 1));
      for (auto& entry : read_config_table(L, index)) {
        if (std::ranges::find(entries, entry.first, &ConfigEntries::value_type::first) != entries.end()) {
          throw ArgumentError(fmt::format("option '{}' is given twice, by its place and by its name", entry.first));
        }
        entries.push_back(std::move(entry));
      }
    } else if (lua_isnil(L, index) && (i + 1 == count || static_cast<std::size_t>(i) < positional.size())) {
      continue;
    } else if (static_cast<std::size_t>(i) >= positional.size()) {
      throw ArgumentError(
          fmt::format("argument #{}: {}", i + 1, options_expected(L, index, name_for(L, index, positional, fields))));
    } else {
      try {
        entries.emplace_back(positional[static_cast<std::size_t>(i)], read_value(L, index));
      } catch (const ArgumentError& error) {
        throw ArgumentError(
            fmt::format("argument #{} ({}): {}", i + 1, positional[static_cast<std::size_t>(i)], error.what()));
      }
    }
  }
  return entries;
}

}  // namespace gpubench::lua
