// Lua functions that are traced into a graph: custom losses and metrics, and learning rates.
#pragma once
#include <string>

#include "core/nn/loss.h"
#include "core/train/optimizer.h"
#include "lua/bind/function.h"

namespace gpubench::lua {

/// `what` names the function in messages: "loss".
GraphFunction graph_function(LuaFunction function, std::string what);
/// A function of the step, which is a float32 tensor.
StepGraphFunction step_function(LuaFunction function);

}  // namespace gpubench::lua
