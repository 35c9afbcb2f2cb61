// Products of matrices by oneDNN: its matmul primitive, or its plain sgemm where that was measured to be faster.
#pragma once
#include <memory>

#include "core/backend/backend.h"
#include "core/ops/matmul.h"

namespace gpubench::cpu {

/// float32 and bfloat16.
std::unique_ptr<Kernel> plan_matmul(const Matmul& op, const Signature& signature, Device& device);

}  // namespace gpubench::cpu
