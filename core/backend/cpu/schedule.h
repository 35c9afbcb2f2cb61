// Kernels of core/ops/schedule.h.
#pragma once
#include <memory>

#include "core/backend/backend.h"
#include "core/ops/schedule.h"

namespace gpubench::cpu {

std::unique_ptr<Kernel> plan_cosine_decay(const CosineDecay& op, const Signature& signature, Device& device);
std::unique_ptr<Kernel> plan_exponential_decay(const ExponentialDecay& op, const Signature& signature, Device& device);

}  // namespace gpubench::cpu
