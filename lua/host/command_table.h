// gb._native.reference, the part of the command line: what `gpubench help` says of commands and options.
#pragma once

struct lua_State;

namespace gpubench::lua {

///   commands()       { name, description, help, options = { name, type, meaning, choices, is_argument, takes_value } }
///   exit_statuses(), environment(), examples()   { name, text }
///   program_help()   the help of the program itself
void open_command_table(lua_State* L);

}  // namespace gpubench::lua
