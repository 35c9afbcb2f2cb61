// Named options whose fields are known at run time only: those of layers, losses and optimizers, as core/nn describes
// them.
#pragma once
#include <lua.hpp>
#include <string>
#include <vector>

#include "core/nn/config.h"

namespace gpubench::lua {

/// The arguments from stack index `first`: values for the options that may be given by position, then perhaps a table
/// with names. Throws ArgumentError for what is no option value or has no place.
ConfigEntries read_config(lua_State* L, int first, const std::vector<std::string>& positional);
/// The named options of one table.
ConfigEntries read_config_table(lua_State* L, int index);

}  // namespace gpubench::lua
