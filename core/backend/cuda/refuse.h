// What planners say when they have no kernel.
#pragma once
#include <string_view>

#include "core/graph/op.h"

namespace gpubench::cuda {

/// Throws Error("cuda: <op>: <reason>").
[[noreturn]] void refuse(const Op& op, std::string_view reason);

/// Throws Error("cuda: softmax: int64 is not supported; float32, float16 and bfloat16 are").
void require_floating(const Op& op, const TensorType& type);

}  // namespace gpubench::cuda
