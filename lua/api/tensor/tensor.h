// Tensors for other modules of the API: the bound class, and conversion of script values (numbers, booleans, nested
// tables) where a tensor is expected.
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
/// Of a variable: it is read by many handles.
template <>
struct Identity<Tensor> {
  static const void* of(const Tensor& tensor) { return tensor.symbolic() ? nullptr : tensor.variable().get(); }
  static void take_over(Tensor&, const Tensor&) {}
};

/// A number, boolean or nested table as a host tensor. Numbers become float32 unless `dtype` is given. Throws
/// ArgumentError for ragged tables and other values.
HostTensor read_host_tensor(lua_State* L, int index, std::optional<Dtype> dtype = std::nullopt);
/// Returns a Tensor unchanged; converts other values with read_host_tensor to a constant of the current mode.
Tensor read_tensor(lua_State* L, int index, std::optional<Dtype> dtype = std::nullopt);
/// A copy on the host. Throws Error for symbolic tensors, which have no values yet.
HostTensor download(lua_State* L, const Tensor& tensor);
/// Element `index` of any dtype but bytes.
double element_as_double(const HostTensor& tensor, std::int64_t index);
/// Printed as in NumPy: nested brackets, long dimensions shortened.
std::string format_values(const HostTensor& tensor);

/// A parameter that accepts a Tensor or a value that can be converted to one.
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
