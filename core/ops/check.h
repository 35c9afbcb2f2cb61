// Checks that the infer() functions share, so that all messages read alike: "op: what was given; what is possible".
#pragma once
#include <span>
#include <string_view>

#include "core/tensor/tensor_type.h"

namespace gpubench::ops {

/// Throws Error("op: reason").
[[noreturn]] void refuse(std::string_view op, std::string_view reason);

void expect_count(std::string_view op, std::span<const TensorType> inputs, std::size_t count);
/// float32, float16 or bfloat16.
void expect_floating(std::string_view op, const TensorType& type);
/// Anything that can be added: neither bool nor bytes.
void expect_numeric(std::string_view op, const TensorType& type);
/// A signed or unsigned integer; `what` names the input ("indices").
void expect_integer(std::string_view op, std::string_view what, const TensorType& type);
/// There are no implicit casts: says to cast one of the two.
void expect_same_dtype(std::string_view op, const TensorType& a, const TensorType& b);
/// `what` names the input ("step").
void expect_type(std::string_view op, std::string_view what, const TensorType& type, const TensorType& expected);
void expect_rank(std::string_view op, std::string_view what, const TensorType& type, int rank);

/// What random ops draw by: int64[], or int64[k] for what has `k` parts along its first dimension.
void expect_step(std::string_view op, const TensorType& step, const Shape& of);

/// Counts a negative axis from the end. Throws Error when the type has no such axis.
int axis_index(std::string_view op, std::int64_t axis, const TensorType& type);

}  // namespace gpubench::ops
