// A small training in a fresh process under conditions that a script cannot change for its own: processors,
// environment, memory, neighbours.
#pragma once

struct lua_State;

namespace gpubench::lua {

/// gb._native.probe { processors, environment, address_space, neighbours, settings, threads }: runs
/// lua/gpubench/helpers/training_probe.lua and returns what it prints. No other script and no other program can be
/// started by it, and only variables that doctor knows can be set, so scripts may call it.
void open_training_probe(lua_State* L);

}  // namespace gpubench::lua
