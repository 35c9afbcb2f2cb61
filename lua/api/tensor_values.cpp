// Lua values to tensors and back.
#include <cmath>
#include <fmt/format.h>

#include "core/base/error.h"
#include "core/ops/cast.h"
#include "lua/api/tensor.h"
#include "lua/bind/bind.h"

namespace gpubench::lua {
namespace {

constexpr int deepest_table = 16;
constexpr std::int64_t shown_edge = 3;         // elements at both ends of a shortened dimension
constexpr std::int64_t shown_unshortened = 8;  // longest dimension that is printed whole

/// The shape of a nested table, read along its first elements.
Shape table_shape(lua_State* L, int index) {
  Shape shape;
  const int top = lua_gettop(L);
  lua_pushvalue(L, index);
  while (lua_istable(L, -1)) {
    if (shape.size() == deepest_table) throw ArgumentError("a table nested deeper than 16 is no tensor");
    luaL_checkstack(L, 2, "nested tables");
    shape.push_back(static_cast<std::int64_t>(sequence_length(L, -1)));
    if (shape.back() == 0) break;
    lua_rawgeti(L, -1, 1);
  }
  lua_settop(L, top);
  return shape;
}

double read_element(lua_State* L, int index) {
  if (lua_isboolean(L, index)) return lua_toboolean(L, index);
  if (lua_type(L, index) != LUA_TNUMBER) mismatch(L, index, "number, boolean or table of them");
  return lua_tonumber(L, index);
}

void store(const HostTensor& tensor, std::int64_t at, double value) {
  const auto i = static_cast<std::size_t>(at);
  const auto whole = [&]<class T>(T) {
    if (std::trunc(value) != value || value < static_cast<double>(std::numeric_limits<T>::min()) ||
        value > static_cast<double>(std::numeric_limits<T>::max())) {
      throw ArgumentError(fmt::format("{} is no {}", value, to_string(tensor.dtype())));
    }
    tensor.values<T>()[i] = static_cast<T>(value);
  };
  switch (tensor.dtype()) {
    case Dtype::f32:
      tensor.values<float>()[i] = static_cast<float>(value);
      return;
    case Dtype::i64:
      return whole(std::int64_t{});
    case Dtype::i32:
      return whole(std::int32_t{});
    case Dtype::i16:
      return whole(std::int16_t{});
    case Dtype::i8:
      return whole(std::int8_t{});
    case Dtype::u8:
      return whole(std::uint8_t{});
    case Dtype::boolean:
      tensor.values<bool>()[i] = value != 0;
      return;
    case Dtype::f16:
    case Dtype::bf16:
    case Dtype::bytes:
      break;
  }
  throw ArgumentError(fmt::format("values cannot be written as {}; write float32 and cast", to_string(tensor.dtype())));
}

void fill(lua_State* L, int index, const HostTensor& tensor, std::size_t depth, std::int64_t& next) {
  if (depth == tensor.shape().size()) {
    store(tensor, next++, read_element(L, index));
    return;
  }
  const int table = lua_absindex(L, index);
  const std::int64_t wanted = tensor.shape()[depth];
  if (!lua_istable(L, table) || static_cast<std::int64_t>(sequence_length(L, table)) != wanted) {
    throw ArgumentError(
        fmt::format("a ragged table is no tensor: {} elements expected at depth {}", wanted, depth + 1));
  }
  for (std::int64_t i = 1; i <= wanted; ++i) {
    lua_rawgeti(L, table, i);
    fill(L, -1, tensor, depth + 1, next);
    lua_pop(L, 1);
  }
}

Dtype dtype_of_value(lua_State* L, int index) {
  const int top = lua_gettop(L);
  lua_pushvalue(L, index);
  while (lua_istable(L, -1) && lua_rawlen(L, -1) != 0) {
    luaL_checkstack(L, 2, "nested tables");
    lua_rawgeti(L, -1, 1);
  }
  const Dtype dtype = lua_isboolean(L, -1) ? Dtype::boolean : Dtype::f32;
  lua_settop(L, top);
  return dtype;
}

std::string format_element(const HostTensor& tensor, std::int64_t at) {
  const double value = element_as_double(tensor, at);
  if (tensor.dtype() == Dtype::boolean) return value != 0 ? "true" : "false";
  if (!is_floating(tensor.dtype())) return fmt::format("{:.0f}", value);
  return fmt::format("{:.5g}", value);
}

void format_dimension(const HostTensor& tensor, std::size_t depth, std::int64_t first, std::string& out) {
  if (depth == tensor.shape().size()) {
    out += format_element(tensor, first);
    return;
  }
  const std::int64_t extent = tensor.shape()[depth];
  std::int64_t stride = 1;
  for (std::size_t d = depth + 1; d < tensor.shape().size(); ++d) stride *= tensor.shape()[d];
  const bool last = depth + 1 == tensor.shape().size();
  const std::string separator = last ? ", " : ",\n" + std::string(depth + 1, ' ');
  out += '[';
  for (std::int64_t i = 0; i < extent; ++i) {
    if (i != 0) out += separator;
    if (extent > shown_unshortened && i == shown_edge) {
      out += "...";
      i = extent - shown_edge - 1;
      continue;
    }
    format_dimension(tensor, depth + 1, first + i * stride, out);
  }
  out += ']';
}

}  // namespace

HostTensor read_host_tensor(lua_State* L, int index, std::optional<Dtype> dtype) {
  if (!lua_istable(L, index)) {
    if (!lua_isboolean(L, index) && lua_type(L, index) != LUA_TNUMBER) {
      mismatch(L, index, "Tensor, number, boolean or table of numbers");
    }
    HostTensor scalar(TensorType{{}, dtype.value_or(dtype_of_value(L, index))});
    store(scalar, 0, read_element(L, index));
    return scalar;
  }
  const int table = lua_absindex(L, index);
  HostTensor tensor(TensorType{table_shape(L, table), dtype.value_or(dtype_of_value(L, table))});
  std::int64_t next = 0;
  fill(L, table, tensor, 0, next);
  return tensor;
}

Tensor read_tensor(lua_State* L, int index, std::optional<Dtype> dtype) {
  if (Value<Tensor>::matches(L, index)) return Value<Tensor>::read(L, index);
  return world_of(L).dispatcher.constant(read_host_tensor(L, index, dtype));
}

HostTensor download(lua_State* L, const Tensor& tensor) {
  if (tensor.symbolic()) {
    throw Error(
        "this tensor belongs to a function that is being traced: it has a type but no values yet; a decision on values "
        "needs gb.where, or a function that is not traced");
  }
  Dispatcher& dispatcher = world_of(L).dispatcher;
  const Dtype dtype = tensor.type().dtype;
  if (dtype != Dtype::f16 && dtype != Dtype::bf16) return dispatcher.eager().download(tensor);
  const std::array inputs{tensor};
  const OpPtr cast = std::make_shared<const Cast>(Dtype::f32);
  return dispatcher.eager().download(dispatcher.eager().apply(cast, inputs, tensor.device(), "print").front());
}

double element_as_double(const HostTensor& tensor, std::int64_t index) {
  const auto i = static_cast<std::size_t>(index);
  switch (tensor.dtype()) {
    case Dtype::f32:
      return static_cast<double>(tensor.values<float>()[i]);
    case Dtype::i64:
      return static_cast<double>(tensor.values<std::int64_t>()[i]);
    case Dtype::i32:
      return static_cast<double>(tensor.values<std::int32_t>()[i]);
    case Dtype::i16:
      return static_cast<double>(tensor.values<std::int16_t>()[i]);
    case Dtype::i8:
      return static_cast<double>(tensor.values<std::int8_t>()[i]);
    case Dtype::u8:
      return static_cast<double>(tensor.values<std::uint8_t>()[i]);
    case Dtype::boolean:
      return tensor.values<bool>()[i] ? 1.0 : 0.0;
    case Dtype::f16:
    case Dtype::bf16:
    case Dtype::bytes:
      break;
  }
  throw Error(
      fmt::format("elements of {} cannot be read as numbers; cast to float32 first", to_string(tensor.dtype())));
}

std::string format_values(const HostTensor& tensor) {
  std::string out;
  format_dimension(tensor, 0, 0, out);
  return out;
}

}  // namespace gpubench::lua
