// Convolution and its derivatives by oneDNN, channels last throughout: on AVX-512 its kernels for that order are as
// fast as those for its own blocked one, and nothing needs converting. Filters are reordered at every run, since they
// change.
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
