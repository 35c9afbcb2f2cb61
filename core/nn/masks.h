// What layers do with masks, bools [batch, steps] of which false means padding: a mask is a value beside a layer's
// output, and travels from layer to layer as Layer::mask_rule() says.
#pragma once
#include <vector>

#include "core/nn/layer.h"

namespace gpubench::nn {

/// [batch, steps] as [batch, steps, 1, ...], to combine it with x.
Value mask_beside(Graph& graph, Value mask, Value x);
/// x where the mask is true, else `other`.
Value kept_by(Graph& graph, Value mask, Value x, double other = 0);
/// Whether any bool of the last dimension is true.
Value any_of_last(Graph& graph, Value bools);
/// Where any of the masks is true; none if one of them is missing.
Value any_mask(Graph& graph, const std::vector<Value>& masks);
/// Fails as `layer` unless the mask has the first dimensions of x.
void expect_mask(const Layer& layer, const Graph& graph, Value mask, Value x, std::size_t dimensions);

}  // namespace gpubench::nn
