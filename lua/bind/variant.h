// Arguments that may be absent or of several types. A variant uses the first of its types that fits exactly (an integer
// is not a floating-point number), else the first that fits at all.
#pragma once
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "lua/bind/value.h"

namespace gpubench::lua {

template <class T>
struct Value<std::optional<T>> {
  static std::string expected() { return Value<T>::expected() + " or nil"; }
  static bool matches(lua_State* L, int index) { return lua_isnoneornil(L, index) || Value<T>::matches(L, index); }
  static std::optional<T> read(lua_State* L, int index) {
    if (lua_isnoneornil(L, index)) return std::nullopt;
    return Value<T>::read(L, index);
  }
  static void push(lua_State* L, const std::optional<T>& value) {
    if (value)
      Value<T>::push(L, *value);
    else
      lua_pushnil(L);
  }
};

template <>
struct Value<std::monostate> {
  static std::string expected() { return "nil"; }
  static bool matches(lua_State* L, int index) { return lua_isnoneornil(L, index); }
  static std::monostate read(lua_State* L, int index) {
    if (!matches(L, index)) mismatch(L, index, expected());
    return {};
  }
  static void push(lua_State* L, std::monostate) { lua_pushnil(L); }
};

template <class T>
bool is_exact(lua_State* L, int index) {
  if constexpr (requires { Value<T>::is_exact(L, index); })
    return Value<T>::is_exact(L, index);
  else
    return Value<T>::matches(L, index);
}

template <class... T>
struct Value<std::variant<T...>> {
  using Variant = std::variant<T...>;

  static std::string expected() {
    std::string names;
    ((names += (names.empty() ? "" : " or ") + Value<T>::expected()), ...);
    return names;
  }
  static bool matches(lua_State* L, int index) { return (Value<T>::matches(L, index) || ...); }
  static Variant read(lua_State* L, int index) {
    std::optional<Variant> out;
    (void)(try_read<T>(L, index, out, &is_exact<T>) || ...);
    if (!out) (void)(try_read<T>(L, index, out, &Value<T>::matches) || ...);
    if (!out) mismatch(L, index, expected());
    return std::move(*out);
  }
  static void push(lua_State* L, const Variant& value) {
    std::visit([L](const auto& v) { Value<std::decay_t<decltype(v)>>::push(L, v); }, value);
  }

 private:
  template <class A>
  static bool try_read(lua_State* L, int index, std::optional<Variant>& out, bool (*fits)(lua_State*, int)) {
    if (!fits(L, index)) return false;
    out.emplace(std::in_place_type<A>, Value<A>::read(L, index));
    return true;
  }
};

}  // namespace gpubench::lua
