// Kernels of core/ops/matmul_bias_gradient.h and core/ops/matmul_aux.h: the product, then a pass over its result or a
// factor. They are no faster than the ops they stand for, so that passes do not make them for the CPU; they say what
// the ops mean.
#pragma once
#include <memory>

#include "core/backend/backend.h"
#include "core/ops/matmul_aux.h"
#include "core/ops/matmul_bias_gradient.h"

namespace gpubench::cpu {

std::unique_ptr<Kernel> plan_matmul_bias_gradient(const MatmulBiasGradient& op, const Signature& signature,
                                                  Device& device);
/// A mask's bit i of a row is bit i % 8 of its byte i / 8.
std::unique_ptr<Kernel> plan_matmul_aux(const MatmulAux& op, const Signature& signature, Device& device);
std::unique_ptr<Kernel> plan_matmul_activation_gradient(const MatmulActivationGradient& op, const Signature& signature,
                                                        Device& device);

}  // namespace gpubench::cpu
