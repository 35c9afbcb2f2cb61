#include "lua/bind/class.h"

#include <algorithm>
#include <vector>

#include "core/base/known_names.h"
#include "lua/bind/module.h"
#include "lua/bind/other_names.h"

namespace gpubench::lua {
namespace {

// Upvalues of __index and __newindex: the name of the class, then these.
constexpr int methods_upvalue = 2;
constexpr int accessors_upvalue = 3;
constexpr int indexer_upvalue = 4;  // or the assigner

void append_keys(lua_State* L, int table, std::vector<std::string>& names) {
  lua_pushnil(L);
  while (lua_next(L, table)) {
    lua_pop(L, 1);
    names.emplace_back(lua_tostring(L, -1));
  }
}

[[noreturn]] void no_member(lua_State* L, const char* what) {
  std::vector<std::string> names;
  append_keys(L, lua_upvalueindex(methods_upvalue), names);
  append_keys(L, lua_upvalueindex(accessors_upvalue), names);
  std::ranges::sort(names);
  const std::string key = lua_type(L, 2) == LUA_TSTRING ? Value<std::string>::read(L, 2) : type_name_at(L, 2);
  throw ArgumentError(no_such(L, what, function_name(L), key, names_of(names)));
}

int index_object(lua_State* L) {
  lua_pushvalue(L, 2);
  if (lua_rawget(L, lua_upvalueindex(methods_upvalue)) != LUA_TNIL) return 1;
  lua_pushvalue(L, 2);
  if (lua_rawget(L, lua_upvalueindex(accessors_upvalue)) != LUA_TNIL) {
    lua_pushvalue(L, 1);
    lua_call(L, 1, 1);
    return 1;
  }
  if (lua_isnil(L, lua_upvalueindex(indexer_upvalue)) || lua_type(L, 2) == LUA_TSTRING) no_member(L, "no member");
  lua_pushvalue(L, lua_upvalueindex(indexer_upvalue));
  lua_pushvalue(L, 1);
  lua_pushvalue(L, 2);
  lua_call(L, 2, 1);
  return 1;
}

int assign_object(lua_State* L) {
  lua_pushvalue(L, 2);
  if (lua_rawget(L, lua_upvalueindex(accessors_upvalue)) == LUA_TNIL) {
    if (lua_isnil(L, lua_upvalueindex(indexer_upvalue)) || lua_type(L, 2) == LUA_TSTRING) no_member(L, "cannot set");
    lua_pushvalue(L, lua_upvalueindex(indexer_upvalue));
    lua_pushvalue(L, 1);
    lua_pushvalue(L, 2);
    lua_pushvalue(L, 3);
    lua_call(L, 3, 0);
    return 0;
  }
  lua_pushvalue(L, 1);
  lua_pushvalue(L, 3);
  lua_call(L, 2, 0);
  return 0;
}

std::string operator_symbol(std::string_view event) {
  constexpr std::pair<std::string_view, std::string_view> symbols[] = {
      {"__add", "+"}, {"__sub", "-"},     {"__mul", "*"},   {"__div", "/"}, {"__mod", "%"},
      {"__pow", "^"}, {"__unm", "-"},     {"__idiv", "//"}, {"__len", "#"}, {"__lt", "<"},
      {"__le", "<="}, {"__concat", ".."}, {"__call", "()"}};
  for (const auto& [name, symbol] : symbols)
    if (name == event) return std::string(symbol);
  return std::string(event);
}

/// Pushes the table from identities to userdata, which does not keep them alive.
void push_kept_objects(lua_State* L) {
  push_weak_table(L, "gpubench.kept_objects", "v");
}

}  // namespace

void push_weak_table(lua_State* L, const char* name, const char* mode) {
  if (luaL_getsubtable(L, LUA_REGISTRYINDEX, name)) return;
  lua_createtable(L, 0, 1);
  lua_pushstring(L, mode);
  lua_setfield(L, -2, "__mode");
  lua_setmetatable(L, -2);
}

bool push_kept(lua_State* L, const void* identity, const char* class_name) {
  push_kept_objects(L);
  lua_rawgetp(L, -1, identity);
  lua_remove(L, -2);
  if (luaL_testudata(L, -1, class_name) != nullptr) return true;
  lua_pop(L, 1);
  return false;
}

void keep(lua_State* L, const void* identity) {
  push_kept_objects(L);
  lua_pushvalue(L, -2);
  lua_rawsetp(L, -2, identity);
  lua_pop(L, 1);
}

ClassTable::ClassTable(lua_State* L, const char* name, lua_CFunction close, lua_CFunction equal) : L_(L), name_(name) {
  luaL_newmetatable(L, name);
  metatable_ = lua_gettop(L);
  const luaL_Reg basics[] = {{"__gc", close}, {"__close", close}, {"__eq", equal}, {nullptr, nullptr}};
  luaL_setfuncs(L, basics, 0);
  lua_pushboolean(L, 0);  // what getmetatable() shows to scripts, which must not reach __gc
  lua_setfield(L, metatable_, "__metatable");
  for (int* table : {&methods_, &getters_, &setters_}) {
    lua_newtable(L);
    *table = lua_gettop(L);
  }
  push_class_registry(L);
  lua_createtable(L, 0, 4);
  for (const auto& [field, table] : {std::pair{"methods", methods_}, std::pair{"getters", getters_},
                                     std::pair{"setters", setters_}, std::pair{"metatable", metatable_}}) {
    lua_pushvalue(L, table);
    lua_setfield(L, -2, field);
  }
  lua_setfield(L, -2, name);
  lua_pop(L, 1);
  set_indexer(nullptr);
  set_index_assigner(nullptr);
}

ClassTable::~ClassTable() {
  lua_settop(L_, metatable_ - 1);
}

void ClassTable::add(int table, const char* key, const std::string& name, lua_CFunction function) {
  lua_pushlstring(L_, name.data(), name.size());
  lua_pushcclosure(L_, function, 1);
  lua_setfield(L_, table, key);
}

void ClassTable::add_method(const char* name, lua_CFunction function, lua_CFunction declared_options) {
  add(methods_, name, name_ + ":" + name, function);
  keep_declared_options(L_, name_ + ":" + name, declared_options);
}
void ClassTable::add_getter(const char* name, lua_CFunction function) {
  add(getters_, name, name_ + "." + name, function);
}
void ClassTable::add_setter(const char* name, lua_CFunction function) {
  add(setters_, name, name_ + "." + name, function);
}
void ClassTable::add_operator(const char* event, lua_CFunction function) {
  add(metatable_, event, name_ + " " + operator_symbol(event), function);
}

void ClassTable::set_indexer(lua_CFunction function) {
  const std::string name = name_ + " [...]";
  add_access("__index", entry<&index_object>, getters_, name, function);
  add(metatable_, "[]", name, function);  // for who calls it by its name
}

void ClassTable::set_index_assigner(lua_CFunction function) {
  add_access("__newindex", entry<&assign_object>, setters_, name_ + " [...] =", function);
}

void ClassTable::add_access(const char* event, lua_CFunction access, int accessors, const std::string& name,
                            lua_CFunction by_index) {
  lua_pushstring(L_, name_.c_str());
  lua_pushvalue(L_, methods_);
  lua_pushvalue(L_, accessors);
  if (by_index) {
    lua_pushstring(L_, name.c_str());
    lua_pushcclosure(L_, by_index, 1);
  } else {
    lua_pushnil(L_);
  }
  lua_pushcclosure(L_, access, 4);
  lua_setfield(L_, metatable_, event);
}

}  // namespace gpubench::lua
