// Kernels of core/ops/softmax.h, by cuDNN.
#pragma once
#include <memory>

#include "core/backend/backend.h"
#include "core/ops/softmax.h"

namespace gpubench::cuda {

std::unique_ptr<Kernel> plan_softmax(const Softmax& op, const Signature& signature, Device& device);
std::unique_ptr<Kernel> plan_softmax_gradient(const SoftmaxGradient& op, const Signature& signature, Device& device);
std::unique_ptr<Kernel> plan_log_softmax(const LogSoftmax& op, const Signature& signature, Device& device);
std::unique_ptr<Kernel> plan_log_softmax_gradient(const LogSoftmaxGradient& op, const Signature& signature,
                                                  Device& device);

}  // namespace gpubench::cuda
