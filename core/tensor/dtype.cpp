#include "core/tensor/dtype.h"

#include <array>
#include <fmt/format.h>

#include "core/base/error.h"

namespace gpubench {
namespace {

struct Row {
  Dtype dtype;
  std::string_view name;
  std::size_t size;
};

constexpr std::array rows{
    Row{Dtype::f32, "float32", 4}, Row{Dtype::f16, "float16", 2}, Row{Dtype::bf16, "bfloat16", 2},
    Row{Dtype::i64, "int64", 8},   Row{Dtype::i32, "int32", 4},   Row{Dtype::i16, "int16", 2},
    Row{Dtype::i8, "int8", 1},     Row{Dtype::u8, "uint8", 1},    Row{Dtype::boolean, "bool", 1},
    Row{Dtype::bytes, "bytes", 0},
};

const Row& row_of(Dtype dtype) {
  return rows[static_cast<std::size_t>(dtype)];
}

}  // namespace

std::string_view to_string(Dtype dtype) {
  return row_of(dtype).name;
}

Dtype parse_dtype(std::string_view name) {
  std::string known;
  for (const Row& row : rows) {
    if (row.name == name) return row.dtype;
    known += known.empty() ? "" : ", ";
    known += row.name;
  }
  throw Error(fmt::format("unknown dtype '{}' (known: {})", name, known));
}

std::size_t size_of(Dtype dtype) {
  if (dtype == Dtype::bytes) throw Error("dtype bytes: its elements have no fixed size");
  return row_of(dtype).size;
}

bool is_floating(Dtype dtype) {
  return dtype == Dtype::f32 || dtype == Dtype::f16 || dtype == Dtype::bf16;
}

}  // namespace gpubench
