// Tensors as other modules of the API see them: the bound class, and values that scripts may write where a tensor is
// expected (numbers, booleans, nested tables).
#pragma once
#include <lua.hpp>
#include <optional>
#include <string>
#include <vector>

#include "core/exec/tensor.h"
#include "core/tensor/host_tensor.h"
#include "lua/api/session.h"
#include "lua/bind/object.h"

namespace gpubench::lua {

template <>
inline constexpr const char* class_name<Tensor> = "Tensor";

/// A number, boolean or nested table as a host tensor. Numbers become float32 unless `dtype` says otherwise. Throws
/// ArgumentError for ragged tables and for what is no value.
HostTensor read_host_tensor(lua_State* L, int index, std::optional<Dtype> dtype = std::nullopt);
/// A Tensor as it is; any other value through read_host_tensor as a constant of the current mode.
Tensor read_tensor(lua_State* L, int index, std::optional<Dtype> dtype = std::nullopt);
/// A copy on the host. Throws Error for symbolic tensors, which have no values yet.
HostTensor download(lua_State* L, const Tensor& tensor);
/// Element `index` of any dtype but bytes.
double element_as_double(const HostTensor& tensor, std::int64_t index);
/// NumPy's way of printing: nested brackets, long dimensions shortened.
std::string format_values(const HostTensor& tensor);

/// A parameter that takes a Tensor or a value that becomes one.
struct TensorLike {
  Tensor tensor;
};
template <>
struct Value<TensorLike> {
  static std::string expected() { return "Tensor, number or table of numbers"; }
  static bool matches(lua_State* L, int index) {
    return Value<Tensor>::matches(L, index) || lua_isnumber(L, index) != 0 || lua_istable(L, index) ||
           lua_isboolean(L, index);
  }
  static TensorLike read(lua_State* L, int index) { return {read_tensor(L, index)}; }
};

}  // namespace gpubench::lua
