#include "lua/api/trace.h"

#include <fmt/format.h>

#include "core/base/error.h"
#include "lua/api/tensor.h"
#include "lua/bind/bind.h"

namespace gpubench::lua {
namespace {

class TraceScope {
 public:
  explicit TraceScope(Dispatcher& dispatcher) : dispatcher_(dispatcher), trace_(dispatcher.begin_trace()) {}
  ~TraceScope() { dispatcher_.end_trace(); }
  TraceScope(const TraceScope&) = delete;
  TraceScope& operator=(const TraceScope&) = delete;
  const std::shared_ptr<Trace>& trace() const { return trace_; }

 private:
  Dispatcher& dispatcher_;
  std::shared_ptr<Trace> trace_;
};

}  // namespace

TracedFunction trace_function(lua_State* L, const LuaFunction& function, const std::vector<TracedInput>& inputs,
                              const std::string& what) {
  Dispatcher& dispatcher = world_of(L).dispatcher;
  const TraceScope scope(dispatcher);
  Graph& graph = scope.trace()->graph;
  lua_State* const running = function.reference().machine().running();
  const int bottom = lua_gettop(running);
  luaL_checkstack(running, static_cast<int>(inputs.size()) + 8, "traced function");
  function.reference().push(running);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const GraphScope place(graph, inputs[i].device, "");
    const gpubench::Value value = graph.input(inputs[i].type, fmt::format("argument {}", i + 1));
    Value<Tensor>::push(running, Tensor(scope.trace(), value));
  }
  protected_call(running, static_cast<int>(inputs.size()), LUA_MULTRET);

  TracedFunction traced{scope.trace(), {}};
  const int count = lua_gettop(running) - bottom;
  for (int i = 1; i <= count; ++i) {
    if (!Value<TensorLike>::matches(running, bottom + i)) {
      throw Error(fmt::format("{}: the traced function returned a {} as result {}; it can return tensors and numbers",
                              what, type_name_at(running, bottom + i), i));
    }
    traced.outputs.push_back(dispatcher.symbol(read_tensor(running, bottom + i)));
  }
  lua_settop(running, bottom);
  return traced;
}

}  // namespace gpubench::lua
