// The gradient of a max pool spreads each number to the one element that won and zeros to the others. What follows it
// element by element (an activation's derivative), and the sum over it (the bias), give the same before it, where the
// tensor is as many times smaller as a window has elements.
#pragma once
#include "core/passes/pass.h"

namespace gpubench {

Program shrink_pool_gradient(Program program);

}  // namespace gpubench
