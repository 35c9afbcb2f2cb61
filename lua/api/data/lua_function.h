// gb.data.lua_function: a function of elements that runs in Lua. Every worker of the pipeline has its own Lua state
// with a copy of the function, so there is no lock, and nothing is shared with the script.
#pragma once
#include <lua.hpp>
#include <memory>
#include <vector>

#include "core/data/dataset.h"
#include "core/data/function/element_function.h"

namespace gpubench::lua {

/// Returns other functions unchanged, and a Lua function as a copy for one stage: it draws random numbers from the
/// session's next seed, and undeclared outputs get the types of its results for the source's first element.
std::shared_ptr<const ElementFunction> bound_to_source(lua_State* L, std::shared_ptr<const ElementFunction> function,
                                                       const Dataset& source);

}  // namespace gpubench::lua
