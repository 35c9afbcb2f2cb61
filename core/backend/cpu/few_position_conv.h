// Convolutions with large filters and few positions of output: the deepest layers of nets on small images. They are
// products of matrices, with the filter as it is stored. oneDNN's convolutions read filters in an order of their own,
// and reordering a filter takes longer than a convolution that uses it for few positions.
#pragma once
#include <memory>

#include "core/backend/backend.h"
#include "core/ops/conv.h"

namespace gpubench::cpu {

/// Whether these kernels apply: float32, one group, and a filter for whose reordering there are too few positions in
/// `result` [batch, height, width, output channels].
bool few_position_conv_applies(const Conv2DAttributes& options, const TensorType& result, const Shape& filter);

std::unique_ptr<Kernel> plan_few_position_conv2d(const Conv2D& op, const Signature& signature, Device& device);
std::unique_ptr<Kernel> plan_few_position_conv2d_input_gradient(const Conv2DInputGradient& op,
                                                                const Signature& signature, Device& device);
std::unique_ptr<Kernel> plan_few_position_conv2d_filter_gradient(const Conv2DFilterGradient& op,
                                                                 const Signature& signature, Device& device);

}  // namespace gpubench::cpu
