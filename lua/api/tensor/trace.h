// Runs a Lua function once with symbolic tensors and returns the graph that it built, for gb.compile, dataset maps,
// custom losses and metrics.
#pragma once
#include <functional>
#include <lua.hpp>
#include <memory>
#include <string>
#include <vector>

#include "core/exec/tensor.h"
#include "lua/bind/function.h"

namespace gpubench::lua {

class CallCounter;

struct TracedFunction {
  std::shared_ptr<Trace> trace;
  std::vector<gpubench::Value> outputs;
};

/// The symbolic input for one argument.
struct TracedInput {
  TensorType type;
  DeviceId device;
};

/// Calls `function` with one symbolic tensor per input; results must be tensors or values convertible to constants.
/// Throws Error naming `what` ("map") for other results and for unused comparisons. Errors of the function itself pass
/// through, with alternatives added if it needed a tensor's value. `counter` counts its calls; null: the function of a
/// dataset, see Trace. `replica`: the replica whose step is traced.
TracedFunction trace_function(lua_State* L, const LuaFunction& function, const std::vector<TracedInput>& inputs,
                              const std::string& what, CallCounter* counter, const TracedReplica* replica = nullptr);

/// The step at which a random op draws: anew in each call of a function that is traced; step 0 where ops are computed
/// at once, with a seed of their own.
Tensor step_of_draw(lua_State* L);

/// Pushes a function and its arguments, and returns how many arguments there are.
using PushCall = std::function<int(lua_State* L)>;
/// Makes a call inside the current trace (a GraphTrace) and returns its results as values of the traced graph; errors
/// as of trace_function. `masks`: becomes the results' masks, none where there is none; null: they are not needed.
std::vector<gpubench::Value> call_in_trace(lua_State* L, const PushCall& push, const std::string& what,
                                           std::vector<gpubench::Value>* masks = nullptr);

/// Call in a catch block: rethrows an error of Lua code with its position and traceback and `remark` appended to its
/// text; other errors unchanged.
[[noreturn]] void rethrow_with(lua_State* L, const std::string& remark);

}  // namespace gpubench::lua
