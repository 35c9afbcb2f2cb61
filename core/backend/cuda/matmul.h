// Products of matrices by cuBLASLt.
#pragma once
#include <memory>

#include "core/backend/backend.h"
#include "core/ops/matmul.h"

namespace gpubench::cuda {

/// float32 (in TF32 where the device allows it), float16 and bfloat16, summed in float32. Throws Error where cuBLASLt
/// has no algorithm.
std::unique_ptr<Kernel> plan_matmul(const Matmul& op, const Signature& signature, Device& device);

}  // namespace gpubench::cuda
