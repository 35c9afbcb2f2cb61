// Matmul by oneDNN's plain sgemm, with the epilogue in a loop of ours. Setting up a primitive's arguments costs oneDNN
// about a microsecond at every run, which is more than the smallest products take.
#pragma once
#include <cstdint>
#include <memory>

#include "core/backend/backend.h"
#include "core/ops/matmul.h"

namespace gpubench::cpu {

/// What becomes of the memory of a product: it is written, or what it holds is added to.
enum class Onto : std::uint8_t { nothing, result };

/// Whether to prefer it for a product of two matrices, a and c as [rows, columns].
bool small_matmul_is_faster(const Matmul& op, const TensorType& a, const TensorType& c);
std::unique_ptr<Kernel> plan_small_matmul(const Matmul& op, const TensorType& a, const TensorType& c, Onto onto,
                                          Device& device);

}  // namespace gpubench::cpu
