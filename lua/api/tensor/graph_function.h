// Lua functions that are traced into a graph: custom losses and metrics, and learning rates.
#pragma once
#include <string>

#include "core/nn/loss.h"
#include "core/passes/pass.h"
#include "core/train/optimizer.h"
#include "lua/bind/function.h"

namespace gpubench::lua {

/// `what` names the function in messages: "loss".
GraphFunction graph_function(LuaFunction function, std::string what);
/// A function of the step, which is a float32 tensor.
StepGraphFunction step_function(LuaFunction function);

/// The passes with which gb.compile plans the callable there; nullptr if it is none of gb.compile's.
const PassOptions* passes_of_compiled(lua_State* L, int index);

}  // namespace gpubench::lua
