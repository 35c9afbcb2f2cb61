// Runs a Lua function once with symbolic tensors and keeps the graph that it built: what gb.compile, dataset maps,
// custom losses and metrics have in common.
#pragma once
#include <lua.hpp>
#include <memory>
#include <string>
#include <vector>

#include "core/exec/tensor.h"
#include "lua/bind/function.h"

namespace gpubench::lua {

struct TracedFunction {
  std::shared_ptr<Trace> trace;
  std::vector<gpubench::Value> outputs;
};

/// What a traced function gets for one argument.
struct TracedInput {
  TensorType type;
  DeviceId device;
};

/// Calls `function` with one symbolic tensor per input; its results must be tensors or values that become constants.
/// Throws Error naming `what` ("map") for other results; errors of the function itself pass through.
TracedFunction trace_function(lua_State* L, const LuaFunction& function, const std::vector<TracedInput>& inputs,
                              const std::string& what);

}  // namespace gpubench::lua
