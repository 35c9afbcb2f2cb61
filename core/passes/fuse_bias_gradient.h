// The sum that is a bias's gradient into the product that is the weights', on devices that sum a factor while they
// multiply it.
#pragma once
#include "core/passes/pass.h"

namespace gpubench {

Program fuse_bias_gradient(Program program, const Fuses& fuses);

}  // namespace gpubench
