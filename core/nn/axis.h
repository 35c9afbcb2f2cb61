// Options that name a dimension, counted with the batch as 0 or from the end, as Keras counts.
#pragma once
#include "core/nn/layer.h"

namespace gpubench::nn {

/// The index of `axis` in an example's shape. Throws Error naming the layer for the batch and for axes that do not
/// exist.
std::size_t example_axis(const Layer& layer, std::int64_t axis, const TensorType& example);
/// x [batch, ...] with `axis` and the last dimension exchanged; called again, it restores the order.
Value swap_with_last(Graph& graph, Value x, std::int64_t axis);

}  // namespace gpubench::nn
