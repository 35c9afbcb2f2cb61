// Datasets whose elements come from a script's function, one call each, in the script's own thread.
#pragma once
#include <vector>

#include "core/data/dataset.h"
#include "lua/bind/function.h"

namespace gpubench::lua {

/// The function is called once per epoch, as a coroutine: it yields elements, or returns a function that returns the
/// next element at each call and nil at the end. Only the script's thread can read it; threads of the pipeline get an
/// Error.
DatasetPtr from_generator(LuaFunction function, std::vector<TensorType> types);

}  // namespace gpubench::lua
