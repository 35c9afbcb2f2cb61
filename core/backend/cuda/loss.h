// Kernels of core/ops/loss.h and core/ops/binary_cross_entropy.h.
#pragma once
#include <memory>

#include "core/backend/backend.h"
#include "core/ops/binary_cross_entropy.h"
#include "core/ops/loss.h"

namespace gpubench::cuda {

/// For CategoricalCrossEntropy and SparseCategoricalCrossEntropy.
template <class O>
std::unique_ptr<Kernel> plan_cross_entropy(const O& op, const Signature& signature, Device& device);
/// For the gradients of the two.
template <class O>
std::unique_ptr<Kernel> plan_cross_entropy_gradient(const O& op, const Signature& signature, Device& device);
/// For SoftmaxCrossEntropy and SparseSoftmaxCrossEntropy.
template <class O>
std::unique_ptr<Kernel> plan_softmax_cross_entropy(const O& op, const Signature& signature, Device& device);
/// For the gradients of the two.
template <class O>
std::unique_ptr<Kernel> plan_softmax_cross_entropy_gradient(const O& op, const Signature& signature, Device& device);

std::unique_ptr<Kernel> plan_binary_cross_entropy(const BinaryCrossEntropy& op, const Signature& signature,
                                                  Device& device);
std::unique_ptr<Kernel> plan_binary_cross_entropy_gradient(const BinaryCrossEntropyGradient& op,
                                                           const Signature& signature, Device& device);

}  // namespace gpubench::cuda
