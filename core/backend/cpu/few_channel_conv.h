// Convolution of images with few channels (digits, photographs): the first layer of most models. The filter fits into
// vector registers, so one pass over the image is enough. oneDNN's channels-last kernels ran at half the speed here
// (tests/bench, conv2d with 1 channel).
#pragma once
#include <memory>

#include "core/backend/backend.h"
#include "core/ops/conv.h"

namespace gpubench::cpu {

/// Whether these kernels apply: float32, one group, up to 4 channels and 32 taps, a number of output channels that is a
/// multiple of the vector lanes, and no activation but relu.
bool few_channel_conv_applies(const Conv2DAttributes& options, const TensorType& image, const Shape& filter);

std::unique_ptr<Kernel> plan_few_channel_conv2d(const Conv2D& op, const Signature& signature, Device& device);
std::unique_ptr<Kernel> plan_few_channel_conv2d_filter_gradient(const Conv2DFilterGradient& op,
                                                                const Signature& signature, Device& device);

/// The convolution with the max pool that follows it: each image's convolution result stays in the second-level cache.
std::unique_ptr<Kernel> plan_few_channel_conv2d_max_pool(const Conv2DMaxPool& op, const Signature& signature,
                                                         Device& device);
std::unique_ptr<Kernel> plan_few_channel_conv2d_max_pool_filter_gradient(const Conv2DMaxPoolFilterGradient& op,
                                                                         const Signature& signature, Device& device);

}  // namespace gpubench::cpu
