// Products of small matrices, for which oneDNN's matmul primitive is slow: setting its arguments costs about 1 µs a
// run, more than the smallest products take. plan_small_matmul uses oneDNN's plain sgemm, with the epilogue in a loop
// of ours. plan_outer_product computes c = a^T b over few rows, the gradient of a layer's weights at a small batch: it
// writes c once and works within the first-level cache, without the packing of libraries for large products.
#pragma once
#include <cstdint>
#include <memory>

#include "core/backend/backend.h"
#include "core/backend/cpu/block_products.h"
#include "core/ops/matmul.h"

namespace gpubench::cpu {

/// Whether sgemm is faster for this product of two matrices, a and c as [rows, columns].
bool small_matmul_is_faster(const Matmul& op, const TensorType& a, const TensorType& c);
std::unique_ptr<Kernel> plan_small_matmul(const Matmul& op, const TensorType& a, const TensorType& c, Onto onto,
                                          Device& device);

/// Whether our own outer product is faster: float32 matrices, no epilogue, few rows of a and b, and result columns that
/// are a multiple of the lanes or fit two vectors.
bool outer_product_applies(const MatmulAttributes& options, const TensorType& a, const TensorType& b);
std::unique_ptr<Kernel> plan_outer_product(const TensorType& a, const TensorType& b, Onto onto, Device& device);

}  // namespace gpubench::cpu
