// What stages that stack elements share: the types of rows put together, and what is said when they do not fit.
#pragma once
#include <span>
#include <vector>

#include "core/base/error.h"
#include "core/tensor/tensor_type.h"

namespace gpubench {

/// Each type with a first dimension of `count`.
std::vector<TensorType> stacked(std::span<const TensorType> types, std::int64_t count);
/// For an element of `type` that comes where those before had `expected`.
Error unequal_shapes(const TensorType& type, const TensorType& expected);

}  // namespace gpubench
