// A Lua function of labels and predictions, traced into a graph: custom losses and metrics.
#pragma once
#include <string>

#include "core/nn/loss.h"
#include "lua/bind/function.h"

namespace gpubench::lua {

/// `what` names the function in messages: "loss".
GraphFunction graph_function(LuaFunction function, std::string what);

}  // namespace gpubench::lua
