// Convolution and its derivatives: loops of ours for few channels, else oneDNN, channels last throughout. Its kernels
// for that order were measured against those for its own blocked one (AVX-512, 2 threads: 64 channels of 28x28, 3.9
// against 4.3 ms forward, 4.3 against 4.3 ms backward), so no layout of its own would pay. Filters are reordered at
// every run.
#pragma once
#include <memory>

#include "core/backend/backend.h"
#include "core/ops/conv.h"

namespace gpubench::cpu {

/// float32 and bfloat16, all three.
std::unique_ptr<Kernel> plan_conv2d(const Conv2D& op, const Signature& signature, Device& device);
std::unique_ptr<Kernel> plan_conv2d_input_gradient(const Conv2DInputGradient& op, const Signature& signature,
                                                   Device& device);
std::unique_ptr<Kernel> plan_conv2d_filter_gradient(const Conv2DFilterGradient& op, const Signature& signature,
                                                    Device& device);

}  // namespace gpubench::cpu
