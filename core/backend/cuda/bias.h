// Kernels of core/ops/bias.h.
#pragma once
#include <memory>

#include "core/backend/backend.h"
#include "core/ops/bias.h"

namespace gpubench::cuda {

std::unique_ptr<Kernel> plan_bias_add(const BiasAdd& op, const Signature& signature, Device& device);
std::unique_ptr<Kernel> plan_bias_gradient(const BiasGradient& op, const Signature& signature, Device& device);

}  // namespace gpubench::cuda
