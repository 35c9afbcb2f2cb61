// Rows of Tensor: slicing, loops by ipairs, and assignment. Numbers count from 1 and ranges include both ends, as in
// Lua. The op checks the bounds, since a traced function meets other extents.
#pragma once
#include "lua/api/tensor/tensor.h"
#include "lua/bind/class.h"

namespace gpubench::lua {

void add_rows(Class<Tensor>& tensor);

}  // namespace gpubench::lua
