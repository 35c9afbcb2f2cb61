// What a Lua state holds beside Lua's own libraries, by what runs in it. The default is closed: what a script reaches
// writes below its output folders only. tests/lua/host/rights.txt lists the right of every function.
#pragma once

struct lua_State;

namespace gpubench::lua {

enum class StateOf {
  script,
  /// A script whose calls the command `tune` changes.
  tuned_script,
  /// A command of the Lua library; no script ever runs in this state.
  command,
};

/// Opens gb and gb._native.
void open_natives(lua_State* L, StateOf state);

/// pcall, xpcall and the coroutine library for scripts: as Lua's own, but an interrupt passes through them, and a
/// signal handler can determine the running coroutine.
void open_protected_calls(lua_State* L);

/// Blocks what scripts must not do: run programs, load machine code, write outside the output folders. Reading stays
/// allowed. Replaces functions of the open standard libraries, before any script runs; calling a blocked function is an
/// error that says so. output_path() decides where scripts may write.
void close_sandbox(lua_State* L);

/// For a dry run, which executes the script and measures no point: makes every call that trains or measures an error.
/// Called before the Lua library is opened, which adds functions to gb.measure that only compute from rows.
void refuse_work(lua_State* L);

/// gb._native.host, by which `gpubench tune` changes single calls of a script while they are made: methods(class) ->
/// its table of methods; call_site() -> file, line of the script's call of the Lua function that calls it, or nothing
/// if the library or a tail call made it; definition(function) -> file, line; begin_run(), Session's. For commands of
/// the library: a script that reached them could replace methods of the program.
void open_interception(lua_State* L);

/// gb._native.probe { processors, environment, address_space, neighbours, settings, threads }: a small training in a
/// fresh process under conditions that a script cannot change for its own. Runs
/// lua/gpubench/helpers/training_probe.lua and returns what it prints. No other script and no other program can be
/// started by it, and only variables that doctor knows can be set, so scripts may call it.
void open_training_probe(lua_State* L);

/// gb._native.reference, the part of the command line, what `gpubench help` says of commands and options:
///   commands()       { name, description, help, options = { name, type, meaning, choices, is_argument, takes_value } }
///   exit_statuses(), environment(), examples()   { name, text }
///   program_help()   the help of the program itself
void open_command_table(lua_State* L);

}  // namespace gpubench::lua
