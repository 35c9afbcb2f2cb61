#include "core/ops/check.h"

#include <fmt/format.h>

#include "core/base/error.h"

namespace gpubench::ops {

void refuse(std::string_view op, std::string_view reason) {
  throw Error(fmt::format("{}: {}", op, reason));
}

void expect_count(std::string_view op, TensorTypes inputs, std::size_t count) {
  if (inputs.size() == count) return;
  refuse(op, fmt::format("takes {} input{}, got {}", count, count == 1 ? "" : "s", inputs.size()));
}

void expect_floating(std::string_view op, const TensorType& type) {
  if (is_floating(type.dtype)) return;
  refuse(op, fmt::format("{} is not floating-point; cast it to float32", to_string(type)));
}

void expect_numeric(std::string_view op, const TensorType& type) {
  if (type.dtype != Dtype::boolean && type.dtype != Dtype::bytes) return;
  refuse(op, fmt::format("{} is not numeric; cast it to float32 or int64", to_string(type)));
}

void expect_integer(std::string_view op, std::string_view what, const TensorType& type) {
  if (!is_floating(type.dtype) && type.dtype != Dtype::boolean && type.dtype != Dtype::bytes) return;
  refuse(op, fmt::format("{} must be integers, got {}", what, to_string(type)));
}

void expect_same_dtype(std::string_view op, const TensorType& a, const TensorType& b) {
  if (a.dtype == b.dtype) return;
  refuse(op, fmt::format("{} and {} differ in type; cast one of them", to_string(a), to_string(b)));
}

void expect_type(std::string_view op, std::string_view what, const TensorType& type, const TensorType& expected) {
  if (type == expected) return;
  refuse(op, fmt::format("{} must be {}, got {}", what, to_string(expected), to_string(type)));
}

void expect_rank(std::string_view op, std::string_view what, const TensorType& type, int rank) {
  if (type.rank() == rank) return;
  refuse(op, fmt::format("{} must have {} dimension{}, got {}", what, rank, rank == 1 ? "" : "s", to_string(type)));
}

void expect_step(std::string_view op, const TensorType& step, const Shape& of) {
  if (step.rank() != 1 || step.dtype != Dtype::i64) {
    expect_type(op, "the step", step, {{}, Dtype::i64});
  } else if (of.empty() || of[0] != step.shape[0]) {
    refuse(op,
           fmt::format("the step must be int64[], or one for each part of {}, got {}", to_string(of), to_string(step)));
  }
}

int axis_index(std::string_view op, std::int64_t axis, const TensorType& type) {
  const std::int64_t rank = type.rank();
  if (axis < -rank || axis >= rank) {
    refuse(op, fmt::format("axis {} is outside {}, which has {} dimension{}", axis, to_string(type), rank,
                           rank == 1 ? "" : "s"));
  }
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

}  // namespace gpubench::ops
