// Products of matrices by oneDNN: its matmul primitive, or its plain sgemm where that was measured to be faster.
#pragma once
#include <memory>

#include "core/backend/backend.h"
#include "core/ops/matmul.h"
#include "core/ops/matmul_accumulate.h"

namespace gpubench::cpu {

/// float32 and bfloat16.
std::unique_ptr<Kernel> plan_matmul(const Matmul& op, const Signature& signature, Device& device);
std::unique_ptr<Kernel> plan_matmul_accumulate(const MatmulAccumulate& op, const Signature& signature, Device& device);
/// Whether a product is added to its sum in less time than it takes apart.
bool fuses_accumulation(const Op& op, const Signature& signature);

}  // namespace gpubench::cpu
