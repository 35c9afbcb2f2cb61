// Kernels of core/ops/conv.h, by cuDNN.
#pragma once
#include <memory>

#include "core/backend/backend.h"
#include "core/ops/conv.h"

namespace gpubench::cuda {

std::unique_ptr<Kernel> plan_conv2d(const Conv2D& op, const Signature& signature, Device& device);
std::unique_ptr<Kernel> plan_conv2d_input_gradient(const Conv2DInputGradient& op, const Signature& signature,
                                                   Device& device);
std::unique_ptr<Kernel> plan_conv2d_filter_gradient(const Conv2DFilterGradient& op, const Signature& signature,
                                                    Device& device);

}  // namespace gpubench::cuda
