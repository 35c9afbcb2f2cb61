#include "core/tensor/dtype.h"

#include <array>

#include "core/base/enum_names.h"
#include "core/base/error.h"

namespace gpubench {
namespace {

constexpr EnumNames<Dtype, 10> dtypes{
    "unknown dtype",
    {"float32", "float16", "bfloat16", "int64", "int32", "int16", "int8", "uint8", "bool", "bytes"},
    "dtype"};
constexpr std::array<std::size_t, 10> sizes{4, 2, 2, 8, 4, 2, 1, 1, 1, 0};

}  // namespace

std::string_view to_string(Dtype dtype) {
  return dtypes[dtype];
}

Dtype parse_dtype(std::string_view name) {
  return dtypes.parse(name);
}

std::size_t size_of(Dtype dtype) {
  if (dtype == Dtype::bytes) throw Error("dtype bytes: its elements have no fixed size");
  return sizes[static_cast<std::size_t>(dtype)];
}

bool is_floating(Dtype dtype) {
  return dtype == Dtype::f32 || dtype == Dtype::f16 || dtype == Dtype::bf16;
}

}  // namespace gpubench
