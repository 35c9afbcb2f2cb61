// A max pool into the convolution before it, and its gradient into the filter's gradient behind it, where nobody else
// reads what lies between: then that tensor, often a model's largest, need never reach memory.
#pragma once
#include "core/passes/pass.h"

namespace gpubench {

Program fuse_conv_pool(Program program);

}  // namespace gpubench
