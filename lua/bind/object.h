// C++ objects in Lua: every userdata holds one shared_ptr, which the garbage collector or `local x <close>` resets. A
// class is bound by specializing class_name; functions may then take and return it as T, T& or std::shared_ptr<T>.
#pragma once
#include <lua.hpp>
#include <memory>
#include <new>
#include <string>
#include <utility>

#include "lua/bind/value.h"

namespace gpubench::lua {

/// Specialized once per bound class, at namespace gpubench::lua:
/// template <> inline constexpr const char* class_name<Model> = "Model";
template <class T>
inline constexpr const char* class_name = nullptr;

template <class T>
concept Bound = std::is_class_v<T> && class_name<T>
!= nullptr;

/// What all handles of one object share where each push makes its own T: such a handle is pushed as the userdata that
/// already stands for the object, so that handles are equal and are one key of a table. Null: each push is another
/// object.
template <class T>
struct Identity {
  static const void* of(const T&) { return nullptr; }
  /// What the handle that is there takes over from one that is pushed in its place.
  static void take_over(T& /*kept*/, const T& /*pushed*/) {}
};

/// Pushes the table of this name in the registry, which is made if it is not there. `mode`: "k" or "v", what the table
/// does not keep alive.
void push_weak_table(lua_State* L, const char* name, const char* mode);

/// Pushes the living userdata that was kept for `identity`, if it is of the class; else nothing.
bool push_kept(lua_State* L, const void* identity, const char* class_name);
/// Keeps the userdata on top of the stack for `identity`, as long as scripts use it.
void keep(lua_State* L, const void* identity);

template <class T>
struct Value<std::shared_ptr<T>> {
  using Class = std::remove_const_t<T>;
  using Handle = std::shared_ptr<Class>;
  static_assert(class_name<Class> != nullptr, "specialize class_name for the bound class");

  static std::string expected() { return class_name<Class>; }
  static bool matches(lua_State* L, int index) { return luaL_testudata(L, index, class_name<Class>) != nullptr; }
  static std::shared_ptr<T> read(lua_State* L, int index) {
    void* memory = luaL_testudata(L, index, class_name<Class>);
    if (!memory) mismatch(L, index, class_name<Class>);
    const Handle& handle = *static_cast<Handle*>(memory);
    if (!handle) throw ClosedError(std::string(class_name<Class>) + " is closed");
    return handle;
  }
  /// An empty pointer becomes nil.
  static void push(lua_State* L, std::shared_ptr<T> object) {
    static_assert(alignof(Handle) <= alignof(void*));
    if (!object) return lua_pushnil(L);
    const void* const identity = Identity<Class>::of(*object);
    if (identity != nullptr && push_kept(L, identity, class_name<Class>)) {
      if (const Handle& kept = *static_cast<const Handle*>(lua_touserdata(L, -1))) {
        if (kept != object) Identity<Class>::take_over(*kept, *object);
        return;
      }
      lua_pop(L, 1);  // closed
    }
    void* memory = lua_newuserdatauv(L, sizeof(Handle), 0);
    ::new (memory)
        Handle(std::const_pointer_cast<Class>(std::move(object)));  // noexcept, so the metatable is always set
    luaL_setmetatable(L, class_name<Class>);
    if (identity != nullptr) keep(L, identity);
  }
  static int close(lua_State* L) {
    if (void* memory = luaL_testudata(L, 1, class_name<Class>)) static_cast<Handle*>(memory)->reset();
    return 0;
  }
  static int equal(lua_State* L) {
    const void* a = luaL_testudata(L, 1, class_name<Class>);
    const void* b = luaL_testudata(L, 2, class_name<Class>);
    lua_pushboolean(L, a && b && *static_cast<const Handle*>(a) == *static_cast<const Handle*>(b));
    return 1;
  }
};

/// Bound classes with value semantics, such as handles: copied out of the userdata, moved into a new one.
template <Bound T>
struct Value<T> {
  using Pointer = Value<std::shared_ptr<T>>;
  static std::string expected() { return class_name<T>; }
  static bool matches(lua_State* L, int index) { return Pointer::matches(L, index); }
  static T read(lua_State* L, int index) { return *Pointer::read(L, index); }
  static void push(lua_State* L, T object) { Pointer::push(L, std::make_shared<T>(std::move(object))); }
};

}  // namespace gpubench::lua
