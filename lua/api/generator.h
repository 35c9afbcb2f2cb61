// Datasets whose elements a function of the script makes, one call each, in the script's own thread.
#pragma once
#include <vector>

#include "core/data/dataset.h"
#include "lua/bind/function.h"

namespace gpubench::lua {

/// The function is called once an epoch, as a coroutine: it yields elements, or returns a function that gives the next
/// one at each call and nil at the end. Threads of the pipeline cannot read it: they get an Error.
DatasetPtr from_generator(LuaFunction function, std::vector<TensorType> types);

}  // namespace gpubench::lua
