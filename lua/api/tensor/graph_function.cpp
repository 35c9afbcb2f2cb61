#include "lua/api/tensor/graph_function.h"

#include <array>
#include <fmt/format.h>

#include "core/base/error.h"
#include "lua/api/tensor/tensor.h"
#include "lua/api/tensor/trace.h"
#include "lua/bind/bind.h"

namespace gpubench::lua {
namespace {

/// Adds the nodes that the function computes its one tensor with.
gpubench::Value add_traced(Graph& graph, const LuaFunction& function, std::span<const gpubench::Value> given,
                           const std::string& what, const char* of) {
  lua_State* const L = function.reference().machine().running();
  const WorldPtr world = session_of(L).placement.world();
  const GraphTrace trace(world->dispatcher, graph);
  const auto push = [&](lua_State* running) {
    luaL_checkstack(running, 8, "traced function");
    function.reference().push(running);
    for (const gpubench::Value value : given) Value<Tensor>::push(running, trace.tensor(value));
    return static_cast<int>(given.size());
  };
  const std::vector<gpubench::Value> outputs = call_in_trace(L, push, what);
  if (outputs.size() == 1) return outputs.front();
  throw Error(fmt::format("{}: the function of {} must return one tensor, it returned {}", what, of, outputs.size()));
}

}  // namespace

GraphFunction graph_function(LuaFunction function, std::string what) {
  return [function = std::move(function), what = std::move(what)](Graph& graph, gpubench::Value labels,
                                                                  gpubench::Value predictions) {
    return add_traced(graph, function, std::array{labels, predictions}, what, "labels and predictions");
  };
}

StepGraphFunction step_function(LuaFunction function) {
  return [function = std::move(function)](Graph& graph, gpubench::Value step) {
    return add_traced(graph, function, std::array{step}, "learning_rate", "the step");
  };
}

}  // namespace gpubench::lua
