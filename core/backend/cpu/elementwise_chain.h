// Kernel of core/ops/elementwise_chain.h.
#pragma once
#include <memory>

#include "core/backend/backend.h"
#include "core/ops/elementwise_chain.h"

namespace gpubench::cpu {

std::unique_ptr<Kernel> plan_elementwise_chain(const ElementwiseChain& op, const Signature& signature, Device& device);

}  // namespace gpubench::cpu
