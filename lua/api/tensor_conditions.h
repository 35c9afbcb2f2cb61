// What Tensor does where Lua wants a truth value: comparisons are methods, since Lua's operators can only give a
// boolean. A branch on a traced comparison would be silent, as every tensor counts as true: such results are
// remembered, and those that decide nothing are reported when the trace ends.
#pragma once
#include "lua/api/tensor.h"
#include "lua/bind/class.h"

namespace gpubench::lua {

void add_conditions(Class<Tensor>& tensor);

}  // namespace gpubench::lua
