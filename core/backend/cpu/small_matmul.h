// Matmul by oneDNN's plain sgemm, with the epilogue in a loop of ours. Setting up a primitive's arguments costs oneDNN
// about a microsecond at every run, which is more than the smallest products take.
#pragma once
#include <memory>

#include "core/backend/backend.h"
#include "core/ops/matmul.h"

namespace gpubench::cpu {

/// Whether to prefer it for a product of two matrices, a and c as [rows, columns].
bool small_matmul_is_faster(const Matmul& op, const TensorType& a, const TensorType& c);
std::unique_ptr<Kernel> plan_small_matmul(const Matmul& op, const TensorType& a, const TensorType& c, Device& device);

}  // namespace gpubench::cpu
