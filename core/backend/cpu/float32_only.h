// Loops that are written for float32 say so when they are planned.
#pragma once
#include <string_view>

#include "core/backend/cpu/dispatch.h"

namespace gpubench::cpu {

/// Throws Error("cpu: softmax: float16 is not supported") for all but float32.
inline void require_float32(std::string_view op, const TensorType& type) {
  if (type.dtype != Dtype::f32) refuse_dtype(op, type.dtype);
}

}  // namespace gpubench::cpu
