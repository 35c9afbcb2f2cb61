// Named options whose fields are known only at run time: those of layers, losses and optimizers in core/nn.
#pragma once
#include <lua.hpp>
#include <string>
#include <vector>

#include "core/nn/config.h"

namespace gpubench::lua {

/// The arguments from stack index `first`: values of positional options, then an optional table of named ones; nil
/// leaves an option out. Throws ArgumentError for a value of an unsupported type, for an option that is given twice,
/// and for too many values: then with the first of `fields` that could hold it.
ConfigEntries read_config(lua_State* L, int first, const std::vector<std::string>& positional,
                          const std::vector<ConfigField>& fields = {});
/// The named options of one table.
ConfigEntries read_config_table(lua_State* L, int index);

}  // namespace gpubench::lua
