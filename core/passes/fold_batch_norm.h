// Batch norm with given statistics into the weights of the matmul or convolution before it. The folded weights are
// nodes of the graph that depend on variables alone, so an executor computes them when the variables change and at no
// other time; that is why nothing is folded whose variables the graph itself updates.
#pragma once
#include "core/passes/pass.h"

namespace gpubench {

/// With s = gamma / sqrt(variance + epsilon), per output channel: kernel s, and (bias - mean) s + beta. Of float32
/// products alone: a folded bias may be far larger than what it came from, beyond what 16 bits hold.
Program fold_batch_norm(Program program);

}  // namespace gpubench
