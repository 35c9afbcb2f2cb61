#include "lua/api/graph_function.h"

#include <array>
#include <fmt/format.h>

#include "core/base/error.h"
#include "core/graph/copy.h"
#include "lua/api/trace.h"
#include "lua/bind/bind.h"

namespace gpubench::lua {

GraphFunction graph_function(LuaFunction function, std::string what) {
  return [function = std::move(function), what = std::move(what)](Graph& graph, gpubench::Value labels,
                                                                  gpubench::Value predictions) {
    const std::array given{labels, predictions};
    std::vector<TracedInput> inputs;
    for (const gpubench::Value value : given) inputs.push_back({graph.type(value), graph.node(value).device});
    lua_State* const L = function.reference().machine().running();
    const TracedFunction traced = trace_function(L, function, inputs, what);
    if (traced.outputs.size() != 1) {
      throw Error(fmt::format("{}: the function of labels and predictions must return one tensor, it returned {}", what,
                              traced.outputs.size()));
    }
    return splice(graph, traced.trace->graph, given, traced.outputs).front();
  };
}

}  // namespace gpubench::lua
