#include "lua/api/tensor/plain_values.h"

#include <algorithm>
#include <climits>
#include <cstring>
#include <fmt/format.h>
#include <span>

#include "core/base/error.h"
#include "core/data/dataset.h"
#include "core/tensor/integer_type.h"
#include "lua/api/tensor/tensor.h"
#include "lua/bind/error.h"

namespace gpubench::lua {
namespace {

bool is_byte_string(const TensorType& type) {
  return type.dtype == Dtype::u8 && type.rank() == 1;
}

void push_number(lua_State* L, const TensorView& tensor, std::int64_t at) {
  const Dtype dtype = tensor.type->dtype;
  if (dtype == Dtype::f32) return lua_pushnumber(L, static_cast<lua_Number>(tensor.as<float>()[at]));
  if (dtype == Dtype::boolean) return lua_pushboolean(L, tensor.as<bool>()[at]);
  for_integer_type(dtype, [&]<class T>(T) { lua_pushinteger(L, static_cast<lua_Integer>(tensor.as<T>()[at])); });
}

void push_nested(lua_State* L, const TensorView& tensor, std::size_t axis, std::int64_t& at) {
  if (axis == tensor.type->shape.size()) return push_number(L, tensor, at++);
  luaL_checkstack(L, 4, "nested tables");
  const std::int64_t extent = tensor.type->shape[axis];
  lua_createtable(L, static_cast<int>(std::min<std::int64_t>(extent, INT_MAX)), 0);
  for (std::int64_t i = 1; i <= extent; ++i) {
    push_nested(L, tensor, axis + 1, at);
    lua_rawseti(L, -2, i);
  }
}

bool fits(const Shape& shape, const Shape& wanted) {
  if (shape.size() != wanted.size()) return false;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (wanted[i] != varying && wanted[i] != shape[i]) return false;
  }
  return true;
}

HostTensor bytes_of_string(lua_State* L, int index) {
  std::size_t size = 0;
  const char* const text = lua_tolstring(L, index, &size);
  HostTensor tensor(TensorType{{static_cast<std::int64_t>(size)}, Dtype::u8});
  std::memcpy(tensor.data(), text, size);
  return tensor;
}

}  // namespace

void require_few_tables(const TensorType& type) {
  constexpr std::int64_t most = 1'000'000;
  const auto none = std::ranges::find(type.shape, 0);
  if (none == type.shape.end()) return;
  const std::int64_t tables = element_count(std::span(type.shape.begin(), none));
  if (tables > most) {
    throw ArgumentError(fmt::format("{} would be {} empty tables; at most {} are made", to_string(type), tables, most));
  }
}

void push_plain(lua_State* L, const TensorView& tensor, const std::string& what) {
  const TensorType& type = *tensor.type;
  if (type.dtype == Dtype::f16 || type.dtype == Dtype::bf16 || type.dtype == Dtype::bytes) {
    throw Error(fmt::format("{}: {} has no plain Lua values; map it to float32 before", what, to_text(type)));
  }
  luaL_checkstack(L, 4, "values of an element");
  if (is_byte_string(type)) {
    lua_pushlstring(L, reinterpret_cast<const char*>(tensor.data), type.bytes());
    return;
  }
  require_few_tables(type);
  std::int64_t at = 0;
  push_nested(L, tensor, 0, at);
}

HostTensor read_plain(lua_State* L, int index, const TensorType& type, const std::string& what) {
  HostTensor tensor;
  try {
    tensor = is_byte_string(type) && lua_type(L, index) == LUA_TSTRING ? bytes_of_string(L, index)
                                                                       : read_host_tensor(L, index, type.dtype);
  } catch (const ArgumentError& error) {
    throw Error(fmt::format("{}: {} is expected: {}", what, to_text(type), error.what()));
  }
  if (!fits(tensor.shape(), type.shape)) {
    throw Error(fmt::format("{}: {} is expected, got {}", what, to_text(type), to_string(tensor.type())));
  }
  return tensor;
}

bool is_list_of_tensors(lua_State* L, int index) {
  if (!lua_istable(L, index)) return false;
  lua_rawgeti(L, index, 1);
  const bool starts_with_tensor = Value<Tensor>::matches(L, -1);
  lua_pop(L, 1);
  return starts_with_tensor;
}

TensorType plain_type(lua_State* L, int index, const std::string& what) {
  if (lua_type(L, index) == LUA_TSTRING) return {{varying}, Dtype::u8};
  const int top = lua_gettop(L);
  lua_pushvalue(L, index);
  while (lua_istable(L, -1) && lua_rawlen(L, -1) > 0 && lua_checkstack(L, 2) != 0) lua_rawgeti(L, -1, 1);
  const Dtype dtype = lua_isboolean(L, -1) ? Dtype::boolean : lua_isinteger(L, -1) != 0 ? Dtype::i64 : Dtype::f32;
  lua_settop(L, top);
  try {
    return read_host_tensor(L, index, dtype).type();
  } catch (const ArgumentError& error) {
    throw Error(fmt::format("{}: {}", what, error.what()));
  }
}

}  // namespace gpubench::lua
