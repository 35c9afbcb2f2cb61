// Element-wise ops that hand their result to one other, and casts between them, into one op: a kernel then reads and
// writes memory once instead of once for every op.
#pragma once
#include "core/passes/pass.h"

namespace gpubench {

Program fuse_elementwise(Program program);

}  // namespace gpubench
