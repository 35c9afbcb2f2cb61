// Options of a call, passed as a named table. A struct lists its fields once; the list is used for reading, for errors
// about unknown names and for the reference. Absent fields keep the member's default; optional ones are std::optional.
#pragma once
#include <array>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "lua/bind/value.h"

namespace gpubench::lua {

enum class FieldKind : unsigned char { optional, required, positional };

template <class S, class T>
struct Field {
  using Type = T;
  const char* name;
  T S::*member;
  FieldKind kind;
};

/// static constexpr auto fields = std::tuple{required("filters", &Conv2DOptions::filters), field("bias", &...::bias)};
template <class S, class T>
constexpr Field<S, T> field(const char* name, T S::*member) {
  return {name, member, FieldKind::optional};
}
template <class S, class T>
constexpr Field<S, T> required(const char* name, T S::*member) {
  return {name, member, FieldKind::required};
}
/// Receives the table's positional values: gb.Sequential { first_layer, second_layer, name = "m" }. The member is a
/// vector.
template <class S, class T>
constexpr Field<S, std::vector<T>> positional(const char* name, std::vector<T> S::*member) {
  return {name, member, FieldKind::positional};
}

template <class S>
concept Options = requires {
  std::tuple_size_v<std::remove_cvref_t<decltype(S::fields)>>;
};

struct FieldName {
  std::string_view name;
  FieldKind kind;
};
/// "table of options expected, got boolean", and how the option is written that could hold the value, if any.
std::string options_expected(lua_State* L, int index, std::string_view name);
/// Throws ArgumentError for a key that is no field.
void reject_unknown_options(lua_State* L, int index, const FieldName* fields, std::size_t count);
/// Moves arguments in front of the table of options into it, by their names: with the names a and b, f(1, 2, { c = 3 })
/// becomes f { a = 1, b = 2, c = 3 }. nil leaves its option out. Throws ArgumentError for more values than names.
void name_positions(lua_State* L, std::span<const char* const> names);
/// Pushes a new table with the positional values of the table at `index`.
void push_positional_values(lua_State* L, int index);
[[noreturn]] void option_required(std::string_view name);
[[noreturn]] void option_failed(std::string_view name, const ArgumentError& error);

template <Options S>
struct Value<S> {
  static std::string expected() { return "table of options"; }
  static bool matches(lua_State* L, int index) { return lua_istable(L, index); }
  /// An absent table has no options.
  static S read(lua_State* L, int index) {
    const bool absent = lua_isnoneornil(L, index);
    if (absent)
      lua_newtable(L);
    else if (matches(L, index))
      lua_pushvalue(L, index);
    else
      throw ArgumentError(options_expected(L, index, name_for(L, index)));
    const int table = lua_gettop(L);
    luaL_checkstack(L, 6, "nested options");
    reject_unknown_options(L, table, names.data(), names.size());
    S out{};
    std::apply([&](const auto&... f) { (read_field(L, table, out, f), ...); }, S::fields);
    lua_pop(L, 1);
    return out;
  }
  /// Adds to the table on top of the stack: name -> { required, default }. A default that is no plain value is left
  /// out.
  static void add_declared(lua_State* L) {
    const S defaults{};
    std::apply([&](const auto&... f) { (add_declared_field(L, defaults, f), ...); }, S::fields);
  }

 private:
  static constexpr auto names = std::apply(
      [](const auto&... f) {
        return std::array{FieldName{f.name, f.kind}...};
      },
      S::fields);

  template <class T>
  static constexpr bool is_plain = std::is_arithmetic_v<T> || std::is_same_v<T, std::string>;

  template <class F>
  static void add_declared_field(lua_State* L, const S& defaults, const F& f) {
    if (f.kind == FieldKind::positional) return;
    lua_createtable(L, 0, 2);
    lua_pushboolean(L, f.kind == FieldKind::required);
    lua_setfield(L, -2, "required");
    if constexpr (is_plain<typename F::Type>) {
      Value<typename F::Type>::push(L, defaults.*f.member);
      lua_setfield(L, -2, "default");
    }
    lua_setfield(L, -2, f.name);
  }

  /// The first field that could hold the value; empty: none.
  static std::string_view name_for(lua_State* L, int index) {
    std::string_view name;
    const auto look_at = [&](const auto& f) {
      if (!name.empty() || f.kind == FieldKind::positional) return;
      if (Value<typename std::remove_cvref_t<decltype(f)>::Type>::matches(L, index)) name = f.name;
    };
    std::apply([&](const auto&... f) { (look_at(f), ...); }, S::fields);
    return name;
  }

  template <class F>
  static void read_field(lua_State* L, int table, S& out, const F& f) {
    if (f.kind == FieldKind::positional)
      push_positional_values(L, table);
    else if (lua_getfield(L, table, f.name) == LUA_TNIL) {
      if (f.kind == FieldKind::required) option_required(f.name);
      return lua_pop(L, 1);
    }
    try {
      out.*f.member = Value<typename F::Type>::read(L, -1);
    } catch (const ArgumentError& error) {
      option_failed(f.name, error);
    }
    lua_pop(L, 1);
  }
};

}  // namespace gpubench::lua
