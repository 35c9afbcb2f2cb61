// Convolution with a max pool behind it: fused for images of few channels, else one kernel after the other.
#pragma once
#include <memory>

#include "core/backend/backend.h"
#include "core/ops/conv_pool.h"

namespace gpubench::cpu {

std::unique_ptr<Kernel> plan_conv2d_max_pool(const Conv2DMaxPool& op, const Signature& signature, Device& device);
std::unique_ptr<Kernel> plan_conv2d_max_pool_filter_gradient(const Conv2DMaxPoolFilterGradient& op,
                                                             const Signature& signature, Device& device);

}  // namespace gpubench::cpu
