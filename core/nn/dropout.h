// Dropping in training, as the layer Dropout does it.
#pragma once
#include "core/nn/layer.h"

namespace gpubench::nn {

/// x [batch, ...] with a share `rate` of its elements 0 and the rest scaled up. Draws by the step, and for each row as
/// in the whole batch; a call with the same seed in this part of the graph draws differently. Fails as `layer` without
/// a step.
Value dropped(const Layer& layer, const CallContext& context, Value x, double rate, std::uint64_t seed);

}  // namespace gpubench::nn
