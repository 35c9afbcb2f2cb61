// Structured pruning: whole units of dense layers and filters of convolutions go, those whose weights have the smallest
// norm (Li et al., "Pruning Filters for Efficient ConvNets", 2017), and with them what the layers behind read of them.
// The model that is left is an ordinary one, smaller and faster by itself.
#pragma once
#include <map>
#include <string>

#include "core/exec/runtime.h"
#include "core/nn/initializer.h"
#include "core/nn/model.h"

namespace gpubench {

/// A new model of the same layers with the weights that stay. `shares` gives, by layer name, what share of its units or
/// filters goes; of each at least one stays. Throws Error for a model that is no chain or has no weights yet; a name
/// that is not a Dense or Conv2D layer's; the last layer with weights, whose units are the answers; a share outside
/// [0, 1); and a layer behind that mixes channels in a way that is not known (Reshape).
ModelPtr shrink(Runtime& runtime, VariableFactory& factory, const Model& model,
                const std::map<std::string, double>& shares);

}  // namespace gpubench
