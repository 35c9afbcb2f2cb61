// Kernel of core/ops/elementwise_chain.h.
#pragma once
#include <memory>

#include "core/backend/backend.h"
#include "core/ops/elementwise_chain.h"

namespace gpubench::cpu {

std::unique_ptr<Kernel> plan_elementwise_chain(const ElementwiseChain& op, const Signature& signature, Device& device);

/// An element-wise op as a chain of one step, which converts 16-bit types block by block and needs no memory for it;
/// null for other ops, and where an input stretches in a way that chains have no word for.
std::unique_ptr<Kernel> plan_as_chain(const Op& op, const Signature& signature, Device& device);

}  // namespace gpubench::cpu
