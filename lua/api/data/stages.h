// Dataset transformations beyond those of dataset.cpp, as methods of the class.
#pragma once
#include "lua/api/data/dataset.h"
#include "lua/bind/class.h"

namespace gpubench::lua {

void add_sequences(Class<Dataset>& dataset);
void add_stages(Class<Dataset>& dataset);

}  // namespace gpubench::lua
