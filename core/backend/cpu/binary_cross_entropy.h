// Binary cross-entropy, element by element.
#pragma once
#include <memory>

#include "core/backend/backend.h"
#include "core/ops/binary_cross_entropy.h"

namespace gpubench::cpu {

std::unique_ptr<Kernel> plan_binary_cross_entropy(const BinaryCrossEntropy& op, const Signature& signature,
                                                  Device& device);
std::unique_ptr<Kernel> plan_binary_cross_entropy_gradient(const BinaryCrossEntropyGradient& op,
                                                           const Signature& signature, Device& device);

}  // namespace gpubench::cpu
