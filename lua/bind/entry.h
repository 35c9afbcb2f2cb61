// The only transition from Lua into C++: reads the arguments by a function's signature, calls it, and pushes its
// results. An exception becomes a Lua error whose text starts with the script's line.
#pragma once
#include <exception>
#include <limits>
#include <lua.hpp>
#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "lua/bind/machine.h"
#include "lua/bind/object.h"
#include "lua/bind/options.h"
#include "lua/bind/variant.h"

namespace gpubench::lua {

/// Pushes the text of the exception being handled, and remembers the exception for outer C++ frames.
void capture_exception(lua_State* L, const std::exception& error);

/// Calls Body, which may throw, for Lua. Lua errors are raised only here, outside any handler, so that no exception is
/// alive at that time.
template <class R, auto Body, class... A>
R crossing(lua_State* L, A... arguments) {
  try {
    const Running running(L);
    return Body(L, arguments...);
  } catch (const std::exception& error) {
    capture_exception(L, error);
  }
  return static_cast<R>(lua_error(L));
}
template <auto Body>
inline constexpr lua_CFunction entry = &crossing<int, Body>;
template <auto Body>
inline constexpr lua_Hook hook_entry = &crossing<void, Body, lua_Debug*>;
template <auto Body>
inline constexpr lua_KFunction continuation_entry = &crossing<int, Body, int, lua_KContext>;

/// Takes all remaining arguments.
template <class T>
struct Rest {
  std::vector<T> values;
};

struct ArgumentCursor {
  lua_State* L;
  int next = 1;
  /// 1 in methods, whose object does not count as an argument.
  int hidden = 0;
};

/// Throws ArgumentError "argument #2: ...", or, for a method's object, a hint to call it with a colon.
[[noreturn]] void argument_failed(const ArgumentCursor& cursor, int index, const ArgumentError& error);
/// Throws ArgumentError that a method was called on something else than an object of its class.
[[noreturn]] void not_an_object(lua_State* L, const std::string& class_name);
/// Throws ArgumentError if arguments but nil are left over behind the first `taken`, `hidden` of which do not count.
void reject_surplus(lua_State* L, int taken, int hidden);

/// How a parameter of type A is stored during the call.
template <class A>
struct Parameter {
  using Class = std::remove_cvref_t<A>;
  static constexpr bool is_object_reference = std::is_reference_v<A> && Bound<Class>;
  static constexpr bool is_view = std::is_same_v<Class, std::string_view>;
  using Stored = std::conditional_t<is_object_reference, std::shared_ptr<Class>,
                                    std::conditional_t<is_view, std::string, std::decay_t<A>>>;

  static Stored read(ArgumentCursor& cursor) {
    const int index = cursor.next++;
    try {
      return Value<Stored>::read(cursor.L, index);
    } catch (const ArgumentError& error) {
      argument_failed(cursor, index, error);
    }
  }
  static decltype(auto) pass(Stored& stored) {
    if constexpr (is_object_reference)
      return static_cast<Class&>(*stored);
    else if constexpr (std::is_lvalue_reference_v<A>)
      return static_cast<std::decay_t<A>&>(stored);
    else
      return std::move(stored);
  }
};

/// The Lua state itself, for functions that need the stack; uses no argument.
template <>
struct Parameter<lua_State*> {
  using Stored = lua_State*;
  static lua_State* read(ArgumentCursor& cursor) { return cursor.L; }
  static lua_State* pass(lua_State* L) { return L; }
};

template <class T>
struct Parameter<Rest<T>> {
  using Stored = Rest<T>;
  static Rest<T> read(ArgumentCursor& cursor) {
    Rest<T> rest;
    while (cursor.next <= lua_gettop(cursor.L)) rest.values.push_back(Parameter<T>::read(cursor));
    return rest;
  }
  static Rest<T> pass(Rest<T>& stored) { return std::move(stored); }
};
template <class T>
struct Parameter<const Rest<T>&> : Parameter<Rest<T>> {};

template <class F>
struct Signature : Signature<decltype(&F::operator())> {
  using Self = void;
};
template <class R, class... A>
struct Signature<R (*)(A...)> {
  using Result = R;
  using Self = void;
  using Parameters = std::tuple<Parameter<A>...>;
  using Arguments = std::tuple<typename Parameter<A>::Stored...>;
};
template <class R, class... A>
struct Signature<R (*)(A...) noexcept> : Signature<R (*)(A...)> {};
template <class R, class C, class... A>
struct Signature<R (C::*)(A...)> : Signature<R (*)(A...)> {
  using Self = C;
};
template <class R, class C, class... A>
struct Signature<R (C::*)(A...) const> : Signature<R (C::*)(A...)> {};
template <class R, class C, class... A>
struct Signature<R (C::*)(A...) noexcept> : Signature<R (C::*)(A...)> {};
template <class R, class C, class... A>
struct Signature<R (C::*)(A...) const noexcept> : Signature<R (C::*)(A...)> {};

/// The options that arguments of type T take, for the test of the reference.
template <class T>
struct Declares {
  static constexpr bool any = false;
  static void add(lua_State*) {}
};
template <Options S>
struct Declares<S> {
  static constexpr bool any = true;
  static void add(lua_State* L) { Value<S>::add_declared(L); }
};
template <class T>
struct Declares<std::optional<T>> : Declares<T> {};
template <class... T>
struct Declares<std::tuple<T...>> {
  static constexpr bool any = (Declares<T>::any || ...);
  static void add(lua_State* L) { (Declares<T>::add(L), ...); }
};
template <class... T>
struct Declares<std::variant<T...>> : Declares<std::tuple<T...>> {};

/// A function that pushes the options of F: name -> { required, default }. Null if it takes none.
template <auto F>
constexpr lua_CFunction declared_options() {
  using Taken = Declares<typename Signature<std::decay_t<decltype(F)>>::Arguments>;
  if constexpr (!Taken::any) {
    return nullptr;
  } else {
    return [](lua_State* L) {
      lua_newtable(L);
      Taken::add(L);
      return 1;
    };
  }
}

/// Pushes a result and returns the number of Lua values: several for a tuple, none for void.
template <class R>
int push_result(lua_State* L, R&& result) {
  Value<std::decay_t<R>>::push(L, std::forward<R>(result));
  return 1;
}
template <class... T>
int push_result(lua_State* L, std::tuple<T...> results) {
  std::apply([L](auto&... result) { (Value<T>::push(L, std::move(result)), ...); }, results);
  return sizeof...(T);
}

enum class Arity : unsigned char { exact, surplus_ignored };

/// `Class`: the bound class if F is called as its method, else void.
template <auto F, class Class = void, Arity arity = Arity::exact>
int invoke(lua_State* L) {
  using S = Signature<std::decay_t<decltype(F)>>;
  constexpr bool member = !std::is_void_v<typename S::Self>;
  ArgumentCursor cursor{L, 1, std::is_void_v<Class> ? 0 : 1};

  auto call = [&]<std::size_t... I>(std::index_sequence<I...>)->typename S::Result {
    if constexpr (member) {
      using Object = std::conditional_t<std::is_void_v<Class>, typename S::Self, Class>;
      auto self = Parameter<Object&>::read(cursor);
      // Braces evaluate from left to right, so that the first bad argument is reported.
      typename S::Arguments arguments{std::tuple_element_t<I, typename S::Parameters>::read(cursor)...};
      if constexpr (arity == Arity::exact) reject_surplus(L, cursor.next - 1, cursor.hidden);
      return ((*self).*F)(std::tuple_element_t<I, typename S::Parameters>::pass(std::get<I>(arguments))...);
    } else {
      typename S::Arguments arguments{std::tuple_element_t<I, typename S::Parameters>::read(cursor)...};
      if constexpr (arity == Arity::exact) reject_surplus(L, cursor.next - 1, cursor.hidden);
      return F(std::tuple_element_t<I, typename S::Parameters>::pass(std::get<I>(arguments))...);
    }
  };
  constexpr auto indices = std::make_index_sequence<std::tuple_size_v<typename S::Arguments>>{};
  if constexpr (std::is_void_v<typename S::Result>) {
    call(indices);
    return 0;
  } else {
    return push_result(L, call(indices));
  }
}

/// How many arguments a function of type int(lua_State*) takes at most, which uses the stack itself. A method's object
/// does not count.
constexpr int any_number = std::numeric_limits<int>::max(), as_declared = -1;

template <auto F, class Class, int most>
int invoke_counted(lua_State* L) {
  constexpr int hidden = std::is_void_v<Class> ? 0 : 1;
  if constexpr (hidden == 1) {
    if (luaL_testudata(L, 1, class_name<Class>) == nullptr) not_an_object(L, class_name<Class>);
  }
  if constexpr (most != any_number) reject_surplus(L, most + hidden, hidden);
  return F(L);
}

/// For a function of a table of options: its arguments may stand in front of it, without names.
template <auto F, const auto& positions>
int invoke_named(lua_State* L) {
  name_positions(L, positions);
  return invoke<F>(L);
}

/// The lua_CFunction of F: any function, member function or lambda without captures, which says itself how many
/// arguments it takes; or one of type int(lua_State*) with `most`, which only operators need not have: Lua fixes
/// theirs.
template <auto F, class Class = void, int most = as_declared, Arity arity = Arity::exact>
constexpr lua_CFunction c_function() {
  if constexpr (!std::is_convertible_v<decltype(F), lua_CFunction>) {
    static_assert(most == as_declared);
    return entry<&invoke<F, Class, arity>>;
  } else if constexpr (arity == Arity::surplus_ignored) {
    return entry<F>;
  } else {
    static_assert(most != as_declared, "say how many arguments the function takes: .function<&f, 2>(\"f\")");
    return entry<&invoke_counted<F, Class, most>>;
  }
}

}  // namespace gpubench::lua
