#include "lua/api/data/portable_function.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>

#include "core/base/error.h"
#include "lua/bind/error.h"

namespace gpubench::lua {
namespace {

constexpr int deepest_variable = 64;

int append_code(lua_State*, const void* bytes, std::size_t size, void* to) {
  static_cast<std::string*>(to)->append(static_cast<const char*>(bytes), size);
  return 0;
}

bool has_metatable(lua_State* L, int index) {
  if (lua_getmetatable(L, index) == 0) return false;
  lua_pop(L, 1);
  return true;
}

std::string kind_of(lua_State* L, int index) {
  if (lua_iscfunction(L, index)) return "native function";
  return type_name_at(L, index) + (lua_istable(L, index) ? " with a metatable" : "");
}

}  // namespace

PortableFunction::PortableFunction(lua_State* L, int index, const std::string& what) : what_(what) {
  if (lua_iscfunction(L, index) || !lua_isfunction(L, index)) {
    throw Error(fmt::format("{}: a function written in Lua is expected, got a {}", what, kind_of(L, index)));
  }
  capture(L, lua_absindex(L, index), "", 0);
  seen_.clear();
}

PortableFunction::Atom PortableFunction::capture(lua_State* L, int index, const std::string& path, int depth) {
  if (depth > deepest_variable) throw Error(fmt::format("{}: variable '{}' is nested too deeply", what_, path));
  luaL_checkstack(L, 6, "variables of a function");
  switch (lua_type(L, index)) {
    case LUA_TNIL:
      return std::monostate{};
    case LUA_TBOOLEAN:
      return lua_toboolean(L, index) != 0;
    case LUA_TNUMBER:
      if (lua_isinteger(L, index)) return lua_tointeger(L, index);
      return lua_tonumber(L, index);
    case LUA_TSTRING: {
      std::size_t size = 0;
      const char* text = lua_tolstring(L, index, &size);
      return std::string(text, size);
    }
    default:
      break;
  }
  const bool is_table = lua_istable(L, index) && !has_metatable(L, index);
  const bool is_code = lua_isfunction(L, index) && !lua_iscfunction(L, index);
  if (!is_table && !is_code) {
    throw Error(
        fmt::format("{}: the function uses '{}', a {}; it runs in threads, each with a copy of its variables, and "
                    "only numbers, strings, booleans, plain tables of them and Lua functions can be copied",
                    what_, path, kind_of(L, index)));
  }
  const void* const identity = lua_topointer(L, index);
  const auto found = std::ranges::find(seen_, identity, &std::pair<const void*, int>::first);
  if (found != seen_.end()) return Node{found->second};
  const auto node = static_cast<int>(nodes_.size());
  seen_.emplace_back(identity, node);
  nodes_.emplace_back();
  if (is_table) {
    Table table = capture_table(L, index, path, depth);
    nodes_[static_cast<std::size_t>(node)] = std::move(table);
  } else {
    Code code = capture_code(L, index, path, depth);
    nodes_[static_cast<std::size_t>(node)] = std::move(code);
  }
  return Node{node};
}

PortableFunction::Table PortableFunction::capture_table(lua_State* L, int index, const std::string& path, int depth) {
  Table table;
  lua_pushnil(L);
  while (lua_next(L, index) != 0) {
    lua_pushvalue(L, -2);  // tolstring would change the key itself
    const std::string key = luaL_tolstring(L, -1, nullptr);
    lua_pop(L, 2);
    const int top = lua_gettop(L);
    Atom name = capture(L, top - 1, path + " (key)", depth + 1);
    Atom value = capture(L, top, path.empty() ? key : path + "." + key, depth + 1);
    table.entries.emplace_back(std::move(name), std::move(value));
    lua_pop(L, 1);
  }
  return table;
}

PortableFunction::Code PortableFunction::capture_code(lua_State* L, int index, const std::string& path, int depth) {
  Code code;
  lua_pushvalue(L, index);
  lua_dump(L, &append_code, &code.bytes, 0);
  lua_pop(L, 1);
  for (int i = 1; const char* name = lua_getupvalue(L, index, i); ++i) {
    if (std::strcmp(name, "_ENV") == 0) {
      code.globals = i - 1;
      code.upvalues.emplace_back();
    } else {
      code.upvalues.push_back(capture(L, lua_gettop(L), path.empty() ? name : path + "." + name, depth + 1));
    }
    lua_pop(L, 1);
  }
  return code;
}

void PortableFunction::push(lua_State* L) const {
  // All tables and functions first, then what they hold: they may refer to each other.
  lua_createtable(L, static_cast<int>(nodes_.size()), 0);
  const int made = lua_gettop(L);
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    if (const auto* code = std::get_if<Code>(&nodes_[i])) {
      if (luaL_loadbufferx(L, code->bytes.data(), code->bytes.size(), what_.c_str(), "b") != LUA_OK) {
        throw Error(fmt::format("{}: {}", what_, lua_tostring(L, -1)));
      }
    } else {
      lua_newtable(L);
    }
    lua_rawseti(L, made, static_cast<lua_Integer>(i + 1));
  }
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    lua_rawgeti(L, made, static_cast<lua_Integer>(i + 1));
    if (const auto* code = std::get_if<Code>(&nodes_[i])) {
      for (int k = 0; k < static_cast<int>(code->upvalues.size()); ++k) {
        if (k == code->globals) {
          lua_pushglobaltable(L);
        } else {
          push_atom(L, code->upvalues[static_cast<std::size_t>(k)], made);
        }
        lua_setupvalue(L, -2, k + 1);
      }
    } else {
      for (const auto& [key, value] : std::get<Table>(nodes_[i]).entries) {
        push_atom(L, key, made);
        push_atom(L, value, made);
        lua_rawset(L, -3);
      }
    }
    lua_pop(L, 1);
  }
  lua_rawgeti(L, made, 1);
  lua_remove(L, made);
}

void PortableFunction::push_atom(lua_State* L, const Atom& atom, int made) const {
  struct Push {
    lua_State* L;
    int made;
    void operator()(std::monostate) const { lua_pushnil(L); }
    void operator()(bool value) const { lua_pushboolean(L, value); }
    void operator()(lua_Integer value) const { lua_pushinteger(L, value); }
    void operator()(lua_Number value) const { lua_pushnumber(L, value); }
    void operator()(const std::string& value) const { lua_pushlstring(L, value.data(), value.size()); }
    void operator()(Node node) const { lua_rawgeti(L, made, node.index + 1); }
  };
  std::visit(Push{L, made}, atom);
}

}  // namespace gpubench::lua
