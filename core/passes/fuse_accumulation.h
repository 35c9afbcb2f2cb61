// A product and the sum that it is added to into one op, on devices that multiply into a sum: the gradients of
// micro-batches then add up without a pass over memory each.
#pragma once
#include "core/passes/pass.h"

namespace gpubench {

Program fuse_accumulation(Program program, const Fuses& fuses);

}  // namespace gpubench
