// Casts that policies of mixed precision leave behind: each value is cast to a type once, and what is cast to and fro
// without a loss is not cast at all. float32 to bfloat16 and back rounds and stays; bfloat16 to float32 and back goes.
#pragma once
#include "core/passes/pass.h"

namespace gpubench {

/// Updates of variables read gradients of 16 bits themselves, and need no float32 copy of them.
Program merge_casts(Program program);

}  // namespace gpubench
