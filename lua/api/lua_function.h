// gb.data.lua_function: a function of elements that really runs in Lua. Every worker of the pipeline has a Lua state of
// its own with a copy of the function, so there is no lock, and nothing is shared with the script.
#pragma once
#include <lua.hpp>
#include <memory>
#include <vector>

#include "core/data/dataset.h"
#include "core/data/function/element_function.h"

namespace gpubench::lua {

/// The function itself, or, when it is a Lua function, one for a stage of its own: it draws random numbers from the
/// session's next seed, and outputs that were not declared are those that it gives for the source's first element.
std::shared_ptr<const ElementFunction> bound_to_source(lua_State* L, std::shared_ptr<const ElementFunction> function,
                                                       const Dataset& source);

}  // namespace gpubench::lua
