// Binds a C++ class: methods, properties (obj.name) and operators. Scripts cannot see its metatable; an unknown member
// is an error; objects are equal if they are the same object.
#pragma once
#include <cassert>
#include <lua.hpp>
#include <string>

#include "lua/bind/entry.h"

namespace gpubench::lua {

/// The part that is independent of the class. Keeps the metatable on the stack while it lives.
class ClassTable {
 public:
  ClassTable(lua_State* L, const char* name, lua_CFunction close, lua_CFunction equal);
  ~ClassTable();
  ClassTable(const ClassTable&) = delete;
  ClassTable& operator=(const ClassTable&) = delete;

 protected:
  void add_method(const char* name, lua_CFunction function, lua_CFunction declared_options);
  void add_getter(const char* name, lua_CFunction function);
  void add_setter(const char* name, lua_CFunction function);
  void add_operator(const char* event, lua_CFunction function);
  void set_indexer(lua_CFunction function);
  void set_index_assigner(lua_CFunction function);

 private:
  /// `by_index`: for keys that are no members, or null.
  void add_access(const char* event, lua_CFunction access, int accessors, const std::string& name,
                  lua_CFunction by_index);
  void add(int table, const char* key, const std::string& name, lua_CFunction function);

  lua_State* L_;
  std::string name_;
  int metatable_;
  int methods_;
  int getters_;
  int setters_;
};

/// Class<Model>(L).method<&Model::fit>("fit").property<&Model::name>("name").meta<&add>("__add");
/// Methods are member functions of T or of its bases, or free functions whose first parameter is T& or shared_ptr<T>.
template <class T>
class Class : public ClassTable {
 public:
  explicit Class(lua_State* L)
      : ClassTable(L, class_name<T>, &Value<std::shared_ptr<T>>::close, &Value<std::shared_ptr<T>>::equal) {}

  template <auto F, int most = as_declared>
  Class& method(const char* name) {
    add_method(name, c_function<F, T, most>(), declared_options<F>());
    return *this;
  }
  /// obj.name; the setter, if any, takes the object and the value.
  template <auto Get>
  Class& property(const char* name) {
    add_getter(name, c_function<Get, T, as_declared, Arity::surplus_ignored>());
    return *this;
  }
  template <auto Get, auto Set>
  Class& property(const char* name) {
    add_setter(name, c_function<Set, T>());
    return property<Get>(name);
  }
  /// Operators get both operands from Lua, either of which may be the object ("__add", "__unm", "__len", ...).
  template <auto F>
  Class& meta(const char* event) {
    const bool is_text = std::string_view(event) == "__tostring";
    assert(std::string_view(event) != "__call");  // call() counts the arguments
    add_operator(event,
                 is_text ? entry<&text_or_closed<F>> : c_function<F, void, as_declared, Arity::surplus_ignored>());
    return *this;
  }
  /// Makes the object callable: F takes the object, then the arguments.
  template <auto F, int most = as_declared>
  Class& call() {
    add_operator("__call", c_function<F, T, most>());
    return *this;
  }
  /// obj[key] for keys that are no members: F takes the object and the key.
  template <auto F>
  Class& index() {
    set_indexer(c_function<F, T, as_declared, Arity::surplus_ignored>());
    return *this;
  }
  /// obj[key] = value likewise: Set takes the object, the key and the value.
  template <auto Get, auto Set>
  Class& index() {
    set_index_assigner(c_function<Set, T, as_declared, Arity::surplus_ignored>());
    return index<Get>();
  }

 private:
  /// A closed object has a text, too, for messages.
  template <auto F>
  static int text_or_closed(lua_State* L) {
    const void* const memory = luaL_testudata(L, 1, class_name<T>);
    if (memory != nullptr && *static_cast<const std::shared_ptr<T>*>(memory) == nullptr) {
      lua_pushfstring(L, "%s (closed)", class_name<T>);
      return 1;
    }
    if constexpr (std::is_convertible_v<decltype(F), lua_CFunction>)
      return F(L);
    else
      return invoke<F, void, Arity::surplus_ignored>(L);
  }
};

}  // namespace gpubench::lua
