// The table that a lua/api file fills: `gb` or a table inside it, such as gb.layers. Every file has one opener, void
// open_<module>(lua_State*), listed in lua/api/modules.cpp.
#pragma once
#include <lua.hpp>
#include <string>

#include "lua/bind/entry.h"
#include "lua/bind/function.h"

namespace gpubench::lua {

/// Pushes the registry of bound classes: name -> { methods, getters, setters, metatable }. For the test of the
/// reference.
void push_class_registry(lua_State* L);

/// What declared_options() gave for a function or method; null is ignored.
void keep_declared_options(lua_State* L, const std::string& name, lua_CFunction declared);
/// Pushes a table: the name of a function or method, "gb.matmul" -> its options. For the test of the reference.
void push_declared_options(lua_State* L);

/// Pushes the table that scripts know as `gb`.
void push_root(lua_State* L);

/// Makes access to a missing name of this table an error that lists the existing names, and closes its metatable; the
/// same for tables in it whose names do not begin with '_'. A table that has a metatable keeps it. `name` is the
/// table's name in scripts, such as "gb.layers".
void name_members(lua_State* L, int index, const std::string& name);

/// Keeps its table on the stack while it lives, so modules must end in reverse order of creation (as scopes do).
class Module {
 public:
  /// The table that scripts know as `gb`; created at the first call.
  static Module root(lua_State* L);
  /// The table `name` inside this one; created if missing.
  Module submodule(const char* name) const&;
  Module submodule(const char* name) const&& = delete;
  ~Module();
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;

  /// Module::root(L).function<&parse>("parse"). Names in messages are qualified: "gb.parse".
  template <auto F, int most = as_declared>
  const Module& function(const char* name) const {
    add_function(name, c_function<F, void, most>());
    keep_declared_options(L_, name_ + "." + name, declared_options<F>());
    return *this;
  }
  /// A function of a table of options, of which `positions`, a constexpr array of names, may stand in front of it:
  /// gb.callbacks.EarlyStopping("loss", 0.1, { mode = "min" }), as in Keras. A name that is no option keeps its place.
  template <auto F, const auto& positions>
  const Module& constructor(const char* name) const {
    add_function(name, entry<&invoke_named<F, positions>>);
    keep_declared_options(L_, name_ + "." + name, declared_options<F>());
    return *this;
  }
  /// The same where core's tables have the options.
  const Module& constructor(const char* name, StackFunction make) const;
  template <class T>
  const Module& value(const char* name, const T& value) const {
    Value<std::decay_t<const T&>>::push(L_, value);
    lua_setfield(L_, index_, name);
    return *this;
  }
  /// The stack index of the table.
  int index() const { return index_; }

 private:
  Module(lua_State* L, std::string name) : L_(L), index_(lua_gettop(L)), name_(std::move(name)) {}
  void add_function(const char* name, lua_CFunction code) const;

  lua_State* L_;
  int index_;
  std::string name_;
};

}  // namespace gpubench::lua
