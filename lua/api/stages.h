// The statistics of a pipeline's stages in Lua.
#pragma once
#include <vector>

#include "core/data/cursor.h"

struct lua_State;

namespace gpubench::lua {

/// Pushes { { stage = "map", elements = 5, busy_s = 0.1, ... }, ... }, sources first.
void push_stages(lua_State* L, const std::vector<StageStatistics>& stages);

}  // namespace gpubench::lua
