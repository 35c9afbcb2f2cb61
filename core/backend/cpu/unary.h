// Kernels of core/ops/unary.h.
#pragma once
#include <memory>

#include "core/backend/backend.h"

namespace gpubench::cpu {

/// For every op of the file; unary.cpp says which function each one applies.
template <class O>
std::unique_ptr<Kernel> plan_unary(const O& op, const Signature& signature, Device& device);
template <class O>
std::unique_ptr<Kernel> plan_activation_gradient(const O& op, const Signature& signature, Device& device);

}  // namespace gpubench::cpu
