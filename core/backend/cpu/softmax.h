// Softmax and its logarithm over rows, and their derivatives.
#pragma once
#include <memory>

#include "core/backend/backend.h"
#include "core/ops/softmax.h"

namespace gpubench::cpu {

std::unique_ptr<Kernel> plan_softmax(const Softmax& op, const Signature& signature, Device& device);
std::unique_ptr<Kernel> plan_softmax_gradient(const SoftmaxGradient& op, const Signature& signature, Device& device);
std::unique_ptr<Kernel> plan_log_softmax(const LogSoftmax& op, const Signature& signature, Device& device);
std::unique_ptr<Kernel> plan_log_softmax_gradient(const LogSoftmaxGradient& op, const Signature& signature,
                                                  Device& device);

}  // namespace gpubench::cpu
