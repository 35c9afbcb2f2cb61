// What data sets were really read, for run.json.
#pragma once
#include <lua.hpp>
#include <string>

#include "core/data/source/image_set.h"

namespace gpubench::lua {

/// Keeps the origin under a name such as "mnist train".
void note_origin(lua_State* L, const std::string& name, const DataOrigin& origin);

}  // namespace gpubench::lua
