#include "lua/api/graph_function.h"

#include <array>
#include <fmt/format.h>

#include "core/base/error.h"
#include "core/graph/copy.h"
#include "lua/api/trace.h"
#include "lua/bind/bind.h"

namespace gpubench::lua {
namespace {

/// Adds the nodes that the function computes its one tensor with.
gpubench::Value add_traced(Graph& graph, const LuaFunction& function, std::span<const gpubench::Value> given,
                           const std::string& what, const char* of) {
  std::vector<TracedInput> inputs;
  for (const gpubench::Value value : given) inputs.push_back({graph.type(value), graph.node(value).device});
  lua_State* const L = function.reference().machine().running();
  const TracedFunction traced = trace_function(L, function, inputs, what);
  if (traced.outputs.size() != 1) {
    throw Error(
        fmt::format("{}: the function of {} must return one tensor, it returned {}", what, of, traced.outputs.size()));
  }
  return splice(graph, traced.trace->graph, given, traced.outputs).front();
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
