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
/// Throws Error naming `what` ("map") for other results and for comparisons that decide nothing; errors of the function
/// itself pass through, with the ways out where it wanted a tensor's value. `replica`: whose step the function is.
TracedFunction trace_function(lua_State* L, const LuaFunction& function, const std::vector<TracedInput>& inputs,
                              const std::string& what, const TracedReplica* replica = nullptr);

/// In a catch block: the error that Lua code threw, its position and its traceback, with a remark behind its text;
/// other errors as they are.
[[noreturn]] void rethrow_with(lua_State* L, const std::string& remark);

}  // namespace gpubench::lua
