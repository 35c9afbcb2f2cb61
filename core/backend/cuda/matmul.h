// Products of matrices by cuBLASLt.
#pragma once
#include <memory>

#include "core/backend/backend.h"
#include "core/ops/matmul.h"
#include "core/ops/matmul_accumulate.h"
#include "core/ops/matmul_aux.h"
#include "core/ops/matmul_bias_gradient.h"

namespace gpubench::cuda {

/// float32 (in TF32 where the device allows it), float16 and bfloat16, summed in float32. Throws Error where cuBLASLt
/// has no algorithm.
std::unique_ptr<Kernel> plan_matmul(const Matmul& op, const Signature& signature, Device& device);
std::unique_ptr<Kernel> plan_matmul_accumulate(const MatmulAccumulate& op, const Signature& signature, Device& device);
std::unique_ptr<Kernel> plan_matmul_bias_gradient(const MatmulBiasGradient& op, const Signature& signature,
                                                  Device& device);
std::unique_ptr<Kernel> plan_matmul_aux(const MatmulAux& op, const Signature& signature, Device& device);
std::unique_ptr<Kernel> plan_matmul_activation_gradient(const MatmulActivationGradient& op, const Signature& signature,
                                                        Device& device);

/// Whether cuBLASLt has an algorithm for this product with its epilogue: for ops that passes make. The answer is kept
/// for when the op is planned.
bool fuses_matmul(const Op& op, const Signature& signature, Device& device);

}  // namespace gpubench::cuda
