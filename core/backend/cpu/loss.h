// Cross-entropies over rows of classes, with and without softmax, for one-hot labels and for class indices.
#pragma once
#include <memory>

#include "core/backend/backend.h"
#include "core/ops/loss.h"

namespace gpubench::cpu {

std::unique_ptr<Kernel> plan_categorical_cross_entropy(const CategoricalCrossEntropy& op, const Signature& signature,
                                                       Device& device);
std::unique_ptr<Kernel> plan_categorical_cross_entropy_gradient(const CategoricalCrossEntropyGradient& op,
                                                                const Signature& signature, Device& device);
std::unique_ptr<Kernel> plan_softmax_cross_entropy(const SoftmaxCrossEntropy& op, const Signature& signature,
                                                   Device& device);
std::unique_ptr<Kernel> plan_softmax_cross_entropy_gradient(const SoftmaxCrossEntropyGradient& op,
                                                            const Signature& signature, Device& device);

}  // namespace gpubench::cpu
