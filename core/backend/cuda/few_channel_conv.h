// Plans convolutions of images with few channels by kernels of our own (kernels/few_channel_conv.h): with the max pool
// behind them, and the filter's gradient. cuDNN has neither the first, nor a fast deterministic engine for the second
// in exact float32.
#pragma once
#include <memory>

#include "core/backend/backend.h"
#include "core/ops/conv.h"

namespace gpubench::cuda {

/// These return nullptr for what they are not made for: more channels, larger windows, groups, turned filters,
/// windows that are far apart in the image.
std::unique_ptr<Kernel> few_channel_max_pool(const Conv2DMaxPool& op, const Signature& signature, Device& device);
std::unique_ptr<Kernel> few_channel_filter_gradient(const Conv2DMaxPoolFilterGradient& op, const Signature& signature,
                                                    Device& device);
/// Only in float32 without TF32.
std::unique_ptr<Kernel> few_channel_filter_gradient(const Conv2DFilterGradient& op, const Signature& signature,
                                                    Device& device);

/// Whether few_channel_max_pool() plans the op if its filter is not turned.
bool is_few_channel_max_pool(const Conv2DMaxPool& op, TensorTypes inputs);

}  // namespace gpubench::cuda
