// Kernels of core/ops/pool.h.
#pragma once
#include <memory>

#include "core/backend/backend.h"
#include "core/ops/pool.h"

namespace gpubench::cuda {

std::unique_ptr<Kernel> plan_max_pool2d(const MaxPool2D& op, const Signature& signature, Device& device);
std::unique_ptr<Kernel> plan_max_pool2d_gradient(const MaxPool2DGradient& op, const Signature& signature,
                                                 Device& device);
std::unique_ptr<Kernel> plan_average_pool2d(const AveragePool2D& op, const Signature& signature, Device& device);
std::unique_ptr<Kernel> plan_average_pool2d_gradient(const AveragePool2DGradient& op, const Signature& signature,
                                                     Device& device);

}  // namespace gpubench::cuda
