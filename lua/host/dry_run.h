// A dry run executes the script, which declares its experiments, and measures no point. Work that the script does
// outside of its points is refused, so that nothing is trained or measured.
#pragma once

struct lua_State;

namespace gpubench::lua {

/// Makes every call that trains or measures an error. Called before the Lua library is opened, which adds functions to
/// gb.measure that only compute from rows.
void refuse_work(lua_State* L);

}  // namespace gpubench::lua
