// Softmax followed by cross-entropy into one op that is exact where the probability underflows, forward and backward:
// the derivative by the logits becomes probabilities - labels.
#pragma once
#include "core/passes/pass.h"

namespace gpubench {

Program fuse_softmax_cross_entropy(Program program);

}  // namespace gpubench
