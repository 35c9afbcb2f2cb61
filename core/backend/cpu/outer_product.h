// Products of a transposed and a plain matrix with few rows each: c = a^T b, the gradient of a layer's weights at a
// small batch, alone or added to what c holds. c is written once and no more is read than fits the first-level cache,
// which libraries for large products spend on packing instead.
#pragma once
#include <memory>

#include "core/backend/backend.h"
#include "core/backend/cpu/small_matmul.h"
#include "core/ops/matmul.h"

namespace gpubench::cpu {

/// Whether to prefer it: float32 matrices without an epilogue, few rows, whole vectors of result columns.
bool outer_product_applies(const MatmulAttributes& options, const TensorType& a, const TensorType& b);
std::unique_ptr<Kernel> plan_outer_product(const TensorType& a, const TensorType& b, Onto onto, Device& device);

}  // namespace gpubench::cpu
