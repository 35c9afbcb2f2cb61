// Tensor methods and functions that consist of several ops and need no kernels of their own.
#pragma once
#include "lua/api/tensor/tensor.h"
#include "lua/bind/class.h"
#include "lua/bind/module.h"

namespace gpubench::lua {

void add_composed(Class<Tensor>& tensor);
/// gb.stack and gb.pad.
void add_composed(const Module& gb);

}  // namespace gpubench::lua
