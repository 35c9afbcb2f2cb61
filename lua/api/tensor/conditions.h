// Comparisons of Tensor are methods, because Lua's comparison operators can only return booleans. Branching on a traced
// comparison would silently take one branch, because every tensor is true in Lua. So comparison results are recorded,
// and those that no op uses are reported when the trace ends.
#pragma once
#include "lua/api/tensor/tensor.h"
#include "lua/bind/class.h"

namespace gpubench::lua {

void add_conditions(Class<Tensor>& tensor);

}  // namespace gpubench::lua
