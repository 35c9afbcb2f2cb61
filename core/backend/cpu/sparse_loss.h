// The cross-entropies of loss.h for labels that are class indices (int64, int32 or uint8). A label outside the classes
// is an Error when the kernel runs: the values are not known before.
#pragma once
#include <memory>

#include "core/backend/backend.h"
#include "core/ops/loss.h"

namespace gpubench::cpu {

std::unique_ptr<Kernel> plan_sparse_categorical_cross_entropy(const SparseCategoricalCrossEntropy& op,
                                                              const Signature& signature, Device& device);
std::unique_ptr<Kernel> plan_sparse_categorical_cross_entropy_gradient(const SparseCategoricalCrossEntropyGradient& op,
                                                                       const Signature& signature, Device& device);
std::unique_ptr<Kernel> plan_sparse_softmax_cross_entropy(const SparseSoftmaxCrossEntropy& op,
                                                          const Signature& signature, Device& device);
std::unique_ptr<Kernel> plan_sparse_softmax_cross_entropy_gradient(const SparseSoftmaxCrossEntropyGradient& op,
                                                                   const Signature& signature, Device& device);

}  // namespace gpubench::cpu
