// Kernels of core/ops/conv_pool.h.
#pragma once
#include <memory>

#include "core/backend/backend.h"
#include "core/ops/conv_pool.h"

namespace gpubench::cuda {

std::unique_ptr<Kernel> plan_conv2d_max_pool(const Conv2DMaxPool& op, const Signature& signature, Device& device);
std::unique_ptr<Kernel> plan_conv2d_max_pool_filter_gradient(const Conv2DMaxPoolFilterGradient& op,
                                                             const Signature& signature, Device& device);

}  // namespace gpubench::cuda
