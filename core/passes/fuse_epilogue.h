// Bias and activation into the matmul or convolution before them, which then applies them to its result while that is
// still in registers.
#pragma once
#include "core/passes/pass.h"

namespace gpubench {

Program fuse_epilogue(Program program);

}  // namespace gpubench
