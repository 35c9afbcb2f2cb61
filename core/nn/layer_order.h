// The order of a model's layers, and so of its weights: that of Keras (map_graph in its ops/function.py), so that
// weights of a net in Keras fit the same net here one by one.
#pragma once
#include <vector>

#include "core/nn/model.h"

namespace gpubench {

/// Layers that the outputs depend on, those with the greatest depth first. Depth is the largest number of applications
/// between a layer and an output; layers of one depth are in the order in which a search from the outputs, depth first,
/// comes upon them. A call of a model counts as one application, for which the model's layers stand in their own order,
/// also those that these outputs do not need. A layer may stand there twice.
std::vector<LayerPtr> layer_order(const std::vector<SymbolPtr>& outputs);

}  // namespace gpubench
