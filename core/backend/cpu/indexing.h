// Kernels of core/ops/indexing.h. Indices are checked before anything is written.
#pragma once
#include <memory>

#include "core/backend/backend.h"
#include "core/ops/indexing.h"

namespace gpubench::cpu {

std::unique_ptr<Kernel> plan_one_hot(const OneHot& op, const Signature& signature, Device& device);
std::unique_ptr<Kernel> plan_gather(const Gather& op, const Signature& signature, Device& device);
std::unique_ptr<Kernel> plan_gather_gradient(const GatherGradient& op, const Signature& signature, Device& device);

}  // namespace gpubench::cpu
