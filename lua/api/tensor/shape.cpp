#include "lua/api/tensor/shape.h"

#include <algorithm>

#include "lua/bind/bind.h"

namespace gpubench::lua {
namespace {

const char value_shape_key = 0;

/// The active recording; nullptr if there is none.
ReadExtents* current_recording(lua_State* L) {
  lua_rawgetp(L, LUA_REGISTRYINDEX, &value_shape_key);
  auto* const current = static_cast<ReadExtents*>(lua_touserdata(L, -1));
  lua_pop(L, 1);
  return current;
}

void set_recording(lua_State* L, ReadExtents* recording) {
  lua_pushlightuserdata(L, recording);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &value_shape_key);
}

/// The active recording of this tensor's extents; nullptr if there is none.
ReadExtents* kept_for(lua_State* L, const Tensor& x) {
  return x.symbolic() ? current_recording(L) : nullptr;
}

// The metamethods of a shape that is read extent by extent. Upvalues: the name in errors, then the tensor.
constexpr int tensor_upvalue = 2;

Tensor tensor_of(lua_State* L) {
  return Value<Tensor>::read(L, lua_upvalueindex(tensor_upvalue));
}

int extent_at(lua_State* L) {
  const Tensor x = tensor_of(L);
  const lua_Integer i = lua_type(L, 2) == LUA_TNUMBER ? lua_tointeger(L, 2) : 0;  // 0 where it is no integer
  if (i < 1 || i > x.type().rank()) return 0;
  lua_pushinteger(L, read_extent(L, x, static_cast<std::size_t>(i - 1)));
  return 1;
}

int rank(lua_State* L) {
  lua_pushinteger(L, tensor_of(L).type().rank());
  return 1;
}

int next_extent(lua_State* L) {
  const lua_Integer i = static_cast<lua_Integer>(static_cast<lua_Unsigned>(lua_tointeger(L, 2)) + 1);
  luaL_checkany(L, 1);
  lua_pushinteger(L, i);
  return lua_geti(L, 1, i) == LUA_TNIL ? 1 : 2;
}

int pairs(lua_State* L) {
  lua_pushcfunction(L, &next_extent);
  lua_pushvalue(L, 1);
  lua_pushinteger(L, 0);
  return 3;
}

/// Makes the shape at stack position 1 a table like any other. What is `replaced` need not be read.
void make_plain(lua_State* L, lua_Integer replaced) {
  if (!lua_istable(L, 1)) mismatch(L, 1, "shape of a tensor");
  const Tensor x = tensor_of(L);
  const lua_Integer count = x.type().rank();
  for (lua_Integer i = 1; i <= count; ++i) {
    if (i == replaced) continue;
    lua_pushinteger(L, read_extent(L, x, static_cast<std::size_t>(i - 1)));
    lua_rawseti(L, 1, i);
  }
  lua_pushnil(L);
  lua_setmetatable(L, 1);
}

int make_list(lua_State* L) {
  make_plain(L, 0);
  return 0;
}

int write(lua_State* L) {
  lua_settop(L, 3);
  make_plain(L, lua_isinteger(L, 2) != 0 ? lua_tointeger(L, 2) : 0);
  lua_rawset(L, 1);
  return 0;
}

}  // namespace

ReadExtents::ReadExtents(lua_State* L) : L_(L), outer_(current_recording(L)) {
  set_recording(L, this);
}

ReadExtents::~ReadExtents() {
  set_recording(L_, outer_);
}

std::int64_t read_extent(lua_State* L, const Tensor& x, std::size_t axis) {
  const std::int64_t extent = x.type().shape[axis];
  if (ReadExtents* const kept = kept_for(L, x)) kept->values.push_back(extent);
  return extent;
}

int push_shape(lua_State* L) {
  const Tensor x = Value<Tensor>::read(L, 1);
  if (kept_for(L, x) == nullptr) {
    Value<Shape>::push(L, x.type().shape);
    return 1;
  }
  constexpr luaL_Reg metamethods[] = {{"__index", entry<&extent_at>},
                                      {"__len", entry<&rank>},
                                      {"__pairs", entry<&pairs>},
                                      {"__newindex", entry<&write>}};
  const auto push_closure = [L](lua_CFunction function) {
    lua_pushliteral(L, "Tensor.shape");
    lua_pushvalue(L, 1);
    lua_pushcclosure(L, function, tensor_upvalue);
  };
  lua_newtable(L);
  lua_createtable(L, 0, static_cast<int>(std::size(metamethods)) + 2);
  for (const auto& [event, function] : metamethods) {
    push_closure(function);
    lua_setfield(L, -2, event);
  }
  push_closure(entry<&make_list>);
  lua_rawsetp(L, -2, &list_maker_key);
  lua_pushboolean(L, 0);  // what getmetatable() shows to scripts
  lua_setfield(L, -2, "__metatable");
  lua_setmetatable(L, -2);
  return 1;
}

Shape with_open_extent(Shape shape) {
  const auto largest = std::ranges::max_element(shape);
  if (largest != shape.end() && std::ranges::find(shape, 0) == shape.end()) *largest = -1;
  return shape;
}

}  // namespace gpubench::lua
