// Lua values held by C++, and Lua functions called from C++. Calls are protected: an error becomes the C++ exception
// that a bound function threw inside, or ScriptError if Lua code raised it.
#pragma once
#include <functional>
#include <lua.hpp>
#include <memory>
#include <string>
#include <tuple>
#include <utility>

#include "lua/bind/entry.h"
#include "lua/bind/machine.h"

namespace gpubench::lua {

/// Like lua_call: takes the function and its arguments from the stack and leaves the results. Throws instead of
/// raising.
void protected_call(lua_State* L, int arguments, int results);

/// Keeps any Lua value alive. Copies share it; a reference may outlive the state and be destroyed on any thread.
class Reference {
 public:
  Reference() = default;
  /// Refers to the value at `index`.
  Reference(lua_State* L, int index);

  explicit operator bool() const { return slot_ != nullptr; }
  /// Pushes the value. Throws ScriptError if the state is closed or belongs to another thread.
  void push(lua_State* L) const;
  Machine& machine() const;

 private:
  struct Slot;
  std::shared_ptr<Slot> slot_;
};

template <>
struct Value<Reference> {
  static std::string expected() { return "value"; }
  static bool matches(lua_State* L, int index) { return !lua_isnone(L, index); }
  static Reference read(lua_State* L, int index) {
    if (!matches(L, index)) mismatch(L, index, expected());
    return {L, index};
  }
  static void push(lua_State* L, const Reference& value) { value ? value.push(L) : lua_pushnil(L); }
};

/// A Lua function (or any value with __call).
class LuaFunction {
 public:
  LuaFunction() = default;
  explicit LuaFunction(Reference function) : function_(std::move(function)) {}

  explicit operator bool() const { return static_cast<bool>(function_); }
  const Reference& reference() const { return function_; }

  /// R: void, one type, or a tuple for several results.
  template <class R = void, class... A>
  R call(A&&... arguments) const {
    lua_State* L = function_.machine().running();
    luaL_checkstack(L, static_cast<int>(sizeof...(A)) + 8, "call of a Lua function");
    const int bottom = lua_gettop(L);
    function_.push(L);
    (Value<std::decay_t<A>>::push(L, std::forward<A>(arguments)), ...);
    protected_call(L, sizeof...(A), Results<R>::count);
    struct Restore {
      lua_State* L;
      int top;
      ~Restore() { lua_settop(L, top); }
    } restore{L, bottom};
    return Results<R>::read(L, bottom + 1);
  }

 private:
  template <class R>
  static R read_result(lua_State* L, int index, int number) {
    try {
      return Value<R>::read(L, index);
    } catch (const ArgumentError& error) {
      throw ArgumentError("result #" + std::to_string(number) + " of the function: " + error.what());
    }
  }
  template <class R>
  struct Results {
    static constexpr int count = std::is_void_v<R> ? 0 : 1;
    static R read(lua_State* L, int first) {
      if constexpr (!std::is_void_v<R>) return read_result<R>(L, first, 1);
    }
  };
  template <class... T>
  struct Results<std::tuple<T...>> {
    static constexpr int count = sizeof...(T);
    static std::tuple<T...> read(lua_State* L, int first) {
      int number = 0;
      return std::tuple<T...>{read_one<T>(L, first, number)...};
    }
    template <class R>
    static R read_one(lua_State* L, int first, int& number) {
      ++number;
      return read_result<R>(L, first + number - 1, number);
    }
  };

  Reference function_;
};

template <>
struct Value<LuaFunction> {
  static std::string expected() { return "function"; }
  static bool matches(lua_State* L, int index);
  static LuaFunction read(lua_State* L, int index) {
    if (!matches(L, index)) mismatch(L, index, expected());
    return LuaFunction(Reference(L, index));
  }
  static void push(lua_State* L, const LuaFunction& function) { Value<Reference>::push(L, function.reference()); }
};

/// A C++ closure as a Lua function: uses the stack and returns the number of results, like lua_CFunction.
using StackFunction = std::function<int(lua_State*)>;
template <>
struct Value<StackFunction> {
  static void push(lua_State* L, StackFunction function);
};
/// With a name for messages: "gb.layers.Dense".
void push_named(lua_State* L, const std::string& name, StackFunction function);

/// Callbacks for core, which knows nothing of Lua; read only.
template <class R, class... A>
struct Value<std::function<R(A...)>> {
  static std::string expected() { return "function"; }
  static bool matches(lua_State* L, int index) { return Value<LuaFunction>::matches(L, index); }
  static std::function<R(A...)> read(lua_State* L, int index) {
    return [function = Value<LuaFunction>::read(L, index)](A... arguments) -> R {
      return function.template call<R>(std::forward<A>(arguments)...);
    };
  }
};

}  // namespace gpubench::lua
