// A Lua function of labels and predictions, traced into whatever graph needs it: custom losses and metrics.
#pragma once
#include <string>

#include "core/nn/loss.h"
#include "lua/bind/function.h"

namespace gpubench::lua {

/// `what` names it in messages: "loss".
GraphFunction graph_function(LuaFunction function, std::string what);

}  // namespace gpubench::lua
