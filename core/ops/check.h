// Checks shared by the infer() functions, so that all messages have the form "op: what was given; what is possible".
#pragma once
#include <span>
#include <string_view>

#include "core/tensor/tensor_type.h"

namespace gpubench::ops {

/// Throws Error("op: reason").
[[noreturn]] void refuse(std::string_view op, std::string_view reason);

void expect_count(std::string_view op, TensorTypes inputs, std::size_t count);
/// float32, float16 or bfloat16.
void expect_floating(std::string_view op, const TensorType& type);
/// Any type that can be added: neither bool nor bytes.
void expect_numeric(std::string_view op, const TensorType& type);
/// A signed or unsigned integer; `what` names the input ("indices").
void expect_integer(std::string_view op, std::string_view what, const TensorType& type);
/// The error asks for a cast, because casts are never implicit.
void expect_same_dtype(std::string_view op, const TensorType& a, const TensorType& b);
/// `what` names the input ("step").
void expect_type(std::string_view op, std::string_view what, const TensorType& type, const TensorType& expected);
void expect_rank(std::string_view op, std::string_view what, const TensorType& type, int rank);

/// The step of random ops: int64[], or int64[k] for a result of `k` parts along its first dimension.
void expect_step(std::string_view op, const TensorType& step, const Shape& of);

/// Converts a negative axis, which counts from the end. Throws Error if the type has no such axis.
int axis_index(std::string_view op, std::int64_t axis, const TensorType& type);

}  // namespace gpubench::ops
