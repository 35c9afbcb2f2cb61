#include "lua/api/graph_function.h"

#include <fmt/format.h>
#include <vector>

#include "core/base/error.h"
#include "lua/api/tensor.h"
#include "lua/api/trace.h"
#include "lua/bind/bind.h"

namespace gpubench::lua {

GraphFunction graph_function(LuaFunction function, std::string what) {
  return [function = std::move(function), what = std::move(what)](Graph& graph, gpubench::Value labels,
                                                                  gpubench::Value predictions) {
    lua_State* const L = function.reference().machine().running();
    const GraphTrace trace(world_of(L).dispatcher, graph);
    const auto push = [&](lua_State* running) {
      luaL_checkstack(running, 8, "traced function");
      function.reference().push(running);
      for (const gpubench::Value value : {labels, predictions}) Value<Tensor>::push(running, trace.tensor(value));
      return 2;
    };
    const std::vector<gpubench::Value> outputs = call_in_trace(L, push, what);
    if (outputs.size() == 1) return outputs.front();
    throw Error(fmt::format("{}: the function of labels and predictions must return one tensor, it returned {}", what,
                            outputs.size()));
  };
}

}  // namespace gpubench::lua
