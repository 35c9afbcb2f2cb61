// Kernels of core/ops/unary.h, and casts.
#pragma once
#include <memory>

#include "core/backend/backend.h"
#include "core/ops/cast.h"

namespace gpubench::cuda {

/// For every op of the file; unary.cpp says which function each one applies.
template <class O>
std::unique_ptr<Kernel> plan_unary(const O& op, const Signature& signature, Device& device);
std::unique_ptr<Kernel> plan_cast(const Cast& op, const Signature& signature, Device& device);

}  // namespace gpubench::cuda
