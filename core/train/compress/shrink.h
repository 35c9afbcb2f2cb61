// Structured pruning: removes whole units of dense layers and filters of convolutions, those whose weights have the
// smallest norm (Li et al., "Pruning Filters for Efficient ConvNets", 2017), and the weights of following layers that
// read them. The result is an ordinary model, smaller and faster.
#pragma once
#include <map>
#include <string>

#include "core/exec/runtime.h"
#include "core/nn/initializer.h"
#include "core/nn/model.h"

namespace gpubench {

/// A new model with the same layers and the remaining weights. `shares`: by layer name, the share of units or filters
/// to remove; at least one of each layer stays. Layers whose outputs an element-wise layer joins lose the same units
/// and take one share. Throws Error for a model that has no weights; a name that is no Dense or Conv2D layer; units
/// that are the model's output, or join its input, or are read by a layer that mixes channels in an unknown way
/// (Reshape); shares outside [0, 1), or different ones for joined layers.
ModelPtr shrink(Runtime& runtime, VariableFactory& factory, const Model& model,
                const std::map<std::string, double>& shares);

}  // namespace gpubench
