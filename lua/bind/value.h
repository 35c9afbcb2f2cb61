// Conversion of C++ types to and from Lua; specialize Value<T> for new types. expected() names the type in messages;
// matches() is a shallow test that selects among a variant's types; read() throws ArgumentError; push() pushes one
// value.
#pragma once
#include <array>
#include <concepts>
#include <cstdint>
#include <exception>
#include <lua.hpp>
#include <map>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "lua/bind/error.h"

namespace gpubench::lua {

template <class T>
struct Value;

template <>
struct Value<bool> {
  static std::string expected() { return "boolean"; }
  static bool matches(lua_State* L, int index) { return lua_isboolean(L, index); }
  static bool read(lua_State* L, int index) {
    if (!matches(L, index)) mismatch(L, index, expected());
    return lua_toboolean(L, index) != 0;
  }
  static void push(lua_State* L, bool value) { lua_pushboolean(L, value); }
};

template <std::integral T>
requires(!std::same_as<T, bool>) struct Value<T> {
  static std::string expected() { return "integer"; }
  static bool is_exact(lua_State* L, int index) { return lua_isinteger(L, index) != 0; }
  static bool matches(lua_State* L, int index) {
    int whole = 0;
    if (lua_type(L, index) == LUA_TNUMBER) lua_tointegerx(L, index, &whole);
    return whole != 0;
  }
  static T read(lua_State* L, int index) {
    if (!matches(L, index)) {
      if (lua_type(L, index) == LUA_TNUMBER)
        throw ArgumentError("integer expected, got " + std::to_string(lua_tonumber(L, index)));
      mismatch(L, index, expected());
    }
    const lua_Integer value = lua_tointeger(L, index);
    if (!std::in_range<T>(value)) throw ArgumentError("integer " + std::to_string(value) + " is out of range");
    return static_cast<T>(value);
  }
  static void push(lua_State* L, T value) { lua_pushinteger(L, static_cast<lua_Integer>(value)); }
};

template <std::floating_point T>
struct Value<T> {
  static std::string expected() { return "number"; }
  static bool matches(lua_State* L, int index) { return lua_type(L, index) == LUA_TNUMBER; }
  static T read(lua_State* L, int index) {
    if (!matches(L, index)) mismatch(L, index, expected());
    return static_cast<T>(lua_tonumber(L, index));
  }
  static void push(lua_State* L, T value) { lua_pushnumber(L, static_cast<lua_Number>(value)); }
};

template <>
struct Value<std::string> {
  static std::string expected() { return "string"; }
  static bool matches(lua_State* L, int index) { return lua_type(L, index) == LUA_TSTRING; }
  static std::string read(lua_State* L, int index) {
    if (!matches(L, index)) mismatch(L, index, expected());
    std::size_t size = 0;
    const char* text = lua_tolstring(L, index, &size);
    return {text, size};
  }
  static void push(lua_State* L, std::string_view value) { lua_pushlstring(L, value.data(), value.size()); }
};
template <>
struct Value<std::string_view> {
  static void push(lua_State* L, std::string_view value) { lua_pushlstring(L, value.data(), value.size()); }
};
template <>
struct Value<const char*> {
  static void push(lua_State* L, const char* value) { lua_pushstring(L, value); }
};

/// A metatable has a function under this key where its tables are lists that are made when they are read: called with
/// the table, it makes a plain list of it. Scripts can neither set nor see it.
inline constexpr char list_maker_key = 0;

/// Throws ArgumentError unless the keys of the table are 1 to n; returns n. A table with `__len` is refused: reads
/// of lists are raw.
std::size_t sequence_length(lua_State* L, int index);

template <class T>
struct Value<std::vector<T>> {
  static std::string expected() { return "array of " + Value<T>::expected(); }
  static bool matches(lua_State* L, int index) { return lua_istable(L, index); }
  static std::vector<T> read(lua_State* L, int index) {
    if (!matches(L, index)) mismatch(L, index, expected() + (Value<T>::matches(L, index) ? ", such as { a, b }," : ""));
    index = lua_absindex(L, index);
    const std::size_t length = sequence_length(L, index);
    luaL_checkstack(L, 4, "nested arrays");
    std::vector<T> values;
    values.reserve(length);
    for (std::size_t k = 1; k <= length; ++k) {
      lua_rawgeti(L, index, static_cast<lua_Integer>(k));
      try {
        values.push_back(Value<T>::read(L, -1));
      } catch (const ArgumentError& error) {
        throw ArgumentError("element " + std::to_string(k) + ": " + error.what());
      }
      lua_pop(L, 1);
    }
    return values;
  }
  static void push(lua_State* L, const std::vector<T>& values) {
    luaL_checkstack(L, 4, "nested arrays");
    lua_createtable(L, static_cast<int>(values.size()), 0);
    for (std::size_t k = 0; k < values.size(); ++k) {
      Value<T>::push(L, values[k]);
      lua_rawseti(L, -2, static_cast<lua_Integer>(k + 1));
    }
  }
};

template <class T, std::size_t N>
struct Value<std::array<T, N>> {
  static std::string expected() { return "array of " + std::to_string(N) + " " + Value<T>::expected() + "s"; }
  static bool matches(lua_State* L, int index) { return lua_istable(L, index); }
  static std::array<T, N> read(lua_State* L, int index) {
    if (!matches(L, index)) mismatch(L, index, expected());
    const auto values = Value<std::vector<T>>::read(L, index);
    if (values.size() != N) throw ArgumentError(expected() + " expected, got " + std::to_string(values.size()));
    std::array<T, N> out;
    for (std::size_t k = 0; k < N; ++k) out[k] = values[k];
    return out;
  }
  static void push(lua_State* L, const std::array<T, N>& values) {
    Value<std::vector<T>>::push(L, std::vector<T>(values.begin(), values.end()));
  }
};

/// A table with names, such as `passes = { fuse_bias = false }`.
template <class T>
struct Value<std::map<std::string, T>> {
  static std::string expected() { return "table of named " + Value<T>::expected() + "s"; }
  static bool matches(lua_State* L, int index) { return lua_istable(L, index); }
  static std::map<std::string, T> read(lua_State* L, int index) {
    if (!matches(L, index)) mismatch(L, index, expected());
    index = lua_absindex(L, index);
    luaL_checkstack(L, 4, "nested tables");
    std::map<std::string, T> values;
    lua_pushnil(L);
    while (lua_next(L, index)) {
      if (lua_type(L, -2) != LUA_TSTRING) throw ArgumentError(expected() + " expected, found a positional value");
      std::string name = Value<std::string>::read(L, -2);
      try {
        values.emplace(name, Value<T>::read(L, -1));
      } catch (const ArgumentError& error) {
        throw ArgumentError("'" + name + "': " + error.what());
      }
      lua_pop(L, 1);
    }
    return values;
  }
  static void push(lua_State* L, const std::map<std::string, T>& values) {
    luaL_checkstack(L, 4, "nested tables");
    lua_createtable(L, 0, static_cast<int>(values.size()));
    for (const auto& [name, value] : values) {
      Value<T>::push(L, value);
      lua_setfield(L, -2, name.c_str());
    }
  }
};

/// Base for types with a text form and a parser in core: struct Value<Dtype> : TextValue<Dtype, &parse_dtype> {};
template <class T, auto Parse>
struct TextValue {
  static std::string expected() { return "string"; }
  static bool matches(lua_State* L, int index) { return lua_type(L, index) == LUA_TSTRING; }
  static T read(lua_State* L, int index) {
    const std::string text = Value<std::string>::read(L, index);
    try {
      return Parse(text);
    } catch (const std::exception& error) {
      throw ArgumentError(error.what());
    }
  }
  static void push(lua_State* L, const T& value) { Value<std::string_view>::push(L, to_string(value)); }
};

/// Specialized once per enum without a parser of its own, from the table that core uses for messages:
/// template <> inline constexpr std::array enum_names<Padding> = {std::pair{"same"sv, Padding::same}, ...};
template <class E>
inline constexpr std::array<std::pair<std::string_view, E>, 0> enum_names{};

template <class E>
requires(std::is_enum_v<E>&& enum_names<E>.size() > 0) struct Value<E> {
  static std::string expected() {
    std::string names = "one of";
    for (const auto& [name, value] : enum_names<E>) names += " '" + std::string(name) + "'";
    return names;
  }
  static bool matches(lua_State* L, int index) { return lua_type(L, index) == LUA_TSTRING; }
  static E read(lua_State* L, int index) {
    if (!matches(L, index)) mismatch(L, index, expected());
    const std::string text = Value<std::string>::read(L, index);
    for (const auto& [name, value] : enum_names<E>)
      if (name == text) return value;
    throw ArgumentError(expected() + " expected, got '" + text + "'");
  }
  static void push(lua_State* L, E wanted) {
    for (const auto& [name, value] : enum_names<E>)
      if (value == wanted) return Value<std::string_view>::push(L, name);
    lua_pushnil(L);
  }
};

}  // namespace gpubench::lua
