// Statistics of a dataset for a layer that normalizes by them.
#pragma once
#include "core/data/dataset.h"
#include "core/exec/runtime.h"
#include "core/nn/layer.h"

namespace gpubench {

/// Sets the layer's statistics to mean and variance of each channel, the last dimension, over all batches of the
/// dataset; tensors behind the first of an element are ignored. Builds the layer if it is not built. Throws Error for a
/// layer without such statistics or with given ones, for a dataset that is empty or never ends, and for elements that
/// are no batches.
void adapt(Runtime& runtime, VariableFactory& factory, Layer& layer, const Dataset& dataset);

}  // namespace gpubench
