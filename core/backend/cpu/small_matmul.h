// Products of small matrices, which oneDNN's matmul primitive computes slowly. By its plain sgemm with the epilogue in
// a loop of ours: setting up a primitive's arguments costs about a microsecond at every run, which is more than the
// smallest products take. And c = a^T b of few rows each, the gradient of a layer's weights at a small batch, by loops
// of ours (outer product): c is written once and no more is read than fits the first-level cache, which libraries for
// large products spend on packing instead.
#pragma once
#include <cstdint>
#include <memory>

#include "core/backend/backend.h"
#include "core/ops/matmul.h"

namespace gpubench::cpu {

/// What becomes of the memory of a product: it is written, or what it holds is added to.
enum class Onto : std::uint8_t { nothing, result };

/// Whether to prefer sgemm for a product of two matrices, a and c as [rows, columns].
bool small_matmul_is_faster(const Matmul& op, const TensorType& a, const TensorType& c);
std::unique_ptr<Kernel> plan_small_matmul(const Matmul& op, const TensorType& a, const TensorType& c, Onto onto,
                                          Device& device);

/// Whether to prefer the outer product: float32 matrices without an epilogue, few rows, whole vectors of result
/// columns.
bool outer_product_applies(const MatmulAttributes& options, const TensorType& a, const TensorType& b);
std::unique_ptr<Kernel> plan_outer_product(const TensorType& a, const TensorType& b, Onto onto, Device& device);

}  // namespace gpubench::cpu
