// Lua values to tensors and back.
#include <fmt/format.h>
#include <utility>

#include "core/base/error.h"
#include "core/math/half.h"
#include "core/ops/cast.h"
#include "core/tensor/integer_type.h"
#include "lua/api/tensor/numbers.h"
#include "lua/api/tensor/tensor.h"
#include "lua/bind/bind.h"

namespace gpubench::lua {
namespace {

constexpr int deepest_table = 16;
constexpr std::int64_t shown_edge = 3;         // elements at both ends of a shortened dimension
constexpr std::int64_t shown_unshortened = 8;  // longest dimension that is printed whole
constexpr int most_shown = 10000;              // elements and empty lists, whatever the rank

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

std::string number_text(lua_State* L, int index) {
  return lua_isinteger(L, index) != 0 ? fmt::format("{}", lua_tointeger(L, index))
                                      : fmt::format("{}", lua_tonumber(L, index));
}

/// Integers of Lua are not taken through double, which has no room for all of them.
template <class T>
T whole_number(lua_State* L, int index, Dtype dtype) {
  if (lua_isboolean(L, index)) return static_cast<T>(lua_toboolean(L, index));
  int whole = 0;
  const lua_Integer value = lua_tointegerx(L, index, &whole);
  if (whole == 0 || !std::in_range<T>(value)) {
    throw ArgumentError(fmt::format("{} is no {}", number_text(L, index), to_string(dtype)));
  }
  return static_cast<T>(value);
}

double real_number(lua_State* L, int index) {
  return lua_isboolean(L, index) ? lua_toboolean(L, index) : lua_tonumber(L, index);
}

void store(lua_State* L, int index, const HostTensor& tensor, std::int64_t at) {
  if (!lua_isboolean(L, index) && lua_type(L, index) != LUA_TNUMBER) {
    mismatch(L, index, "number, boolean or table of them");
  }
  const auto i = static_cast<std::size_t>(at);
  const auto store_whole = [&]<class T>(T) { tensor.values<T>()[i] = whole_number<T>(L, index, tensor.dtype()); };
  if (for_integer_type(tensor.dtype(), store_whole)) return;
  switch (tensor.dtype()) {
    case Dtype::f32:
      tensor.values<float>()[i] = static_cast<float>(real_number(L, index));
      return;
    case Dtype::boolean:
      tensor.values<bool>()[i] = real_number(L, index) != 0;
      return;
    case Dtype::f16:
      reinterpret_cast<math::Float16*>(tensor.data())[i] = math::to_float16(static_cast<float>(real_number(L, index)));
      return;
    case Dtype::bf16:
      reinterpret_cast<math::Bfloat16*>(tensor.data())[i] =
          math::to_bfloat16(static_cast<float>(real_number(L, index)));
      return;
    default:
      throw ArgumentError(fmt::format("numbers cannot be written as {}", to_string(tensor.dtype())));
  }
}

void fill(lua_State* L, int index, const HostTensor& tensor, std::size_t depth, std::int64_t& next) {
  if (depth == tensor.shape().size()) {
    store(L, index, tensor, next++);
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
  const Number value = element_of(tensor, at);
  if (const auto* real = std::get_if<double>(&value)) return fmt::format("{:.5g}", *real);
  return std::visit([](auto exact) { return fmt::format("{}", exact); }, value);
}

void format_dimension(const HostTensor& tensor, std::size_t depth, std::int64_t first, int& left, std::string& out) {
  if (depth == tensor.shape().size()) {
    out += format_element(tensor, first);
    --left;
    return;
  }
  const std::int64_t extent = tensor.shape()[depth];
  std::int64_t stride = 1;
  for (std::size_t d = depth + 1; d < tensor.shape().size(); ++d) stride *= tensor.shape()[d];
  const bool last = depth + 1 == tensor.shape().size();
  const std::string separator = last ? ", " : ",\n" + std::string(depth + 1, ' ');
  if (extent == 0) --left;
  out += '[';
  for (std::int64_t i = 0; i < extent; ++i) {
    if (i != 0) out += separator;
    if (left <= 0) {
      out += "...";
      break;
    }
    if (extent > shown_unshortened && i == shown_edge) {
      out += "...";
      i = extent - shown_edge - 1;
      continue;
    }
    format_dimension(tensor, depth + 1, first + i * stride, left, out);
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
    store(L, index, scalar, 0);
    return scalar;
  }
  const int table = lua_absindex(L, index);
  luaL_checkstack(L, deepest_table + 8, "nested tables");
  HostTensor tensor(TensorType{table_shape(L, table), dtype.value_or(dtype_of_value(L, table))});
  std::int64_t next = 0;
  fill(L, table, tensor, 0, next);
  return tensor;
}

Tensor read_tensor(lua_State* L, int index, std::optional<Dtype> dtype) {
  if (Value<Tensor>::matches(L, index)) return Value<Tensor>::read(L, index);
  return world_of(L).dispatcher.constant(read_host_tensor(L, index, dtype));
}

Tensor scalar_constant(lua_State* L, PlainNumber value, Dtype dtype) {
  Value<PlainNumber>::push(L, value);
  const HostTensor scalar = read_host_tensor(L, -1, dtype);
  lua_pop(L, 1);
  return world_of(L).dispatcher.constant(scalar);
}

HostTensor download(lua_State* L, const Tensor& tensor) {
  if (tensor.symbolic()) {
    throw Error(
        "this tensor belongs to a function that is being traced: it has a type but no values yet; a decision on values "
        "needs gb.where or another op, or a function that is not traced (in a dataset: gb.data.lua_function)");
  }
  Dispatcher& dispatcher = world_of(L).dispatcher;
  const Dtype dtype = tensor.type().dtype;
  if (dtype != Dtype::f16 && dtype != Dtype::bf16) return dispatcher.eager().download(tensor);
  const std::array inputs{tensor};
  const OpPtr cast = std::make_shared<const Cast>(Dtype::f32);
  return dispatcher.eager().download(dispatcher.eager().apply(cast, inputs, tensor.device(), "print").front());
}

Number element_of(const HostTensor& tensor, std::int64_t index) {
  const auto i = static_cast<std::size_t>(index);
  Number number = std::int64_t{0};
  if (for_integer_type(tensor.dtype(), [&]<class T>(T) { number = static_cast<std::int64_t>(tensor.values<T>()[i]); }))
    return number;
  if (tensor.dtype() == Dtype::f32) return static_cast<double>(tensor.values<float>()[i]);
  if (tensor.dtype() == Dtype::boolean) return tensor.values<bool>()[i];
  throw Error(
      fmt::format("elements of {} cannot be read as numbers; cast to float32 first", to_string(tensor.dtype())));
}

double element_as_double(const HostTensor& tensor, std::int64_t index) {
  return std::visit([](auto value) { return static_cast<double>(value); }, element_of(tensor, index));
}

std::string format_values(const HostTensor& tensor) {
  std::string out;
  int left = most_shown;
  format_dimension(tensor, 0, 0, left, out);
  return out;
}

}  // namespace gpubench::lua
