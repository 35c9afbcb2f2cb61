// What `gpubench tune` needs to change single calls of a script while they are made: the methods of bound classes, and
// the line on which a call stands.
#pragma once

struct lua_State;

namespace gpubench::lua {

/// gb._native.host: methods(class) -> its table of methods; call_site() -> file, line of the script's call of the Lua
/// function that calls it, or nothing if the library or a tail call made it; definition(function) -> file, line. For
/// commands of the library: a script that reached them could replace methods of the program.
void open_interception(lua_State* L);

}  // namespace gpubench::lua
