#include "lua/api/tensor/trace.h"

#include <algorithm>
#include <fmt/format.h>
#include <string_view>

#include "core/base/error.h"
#include "lua/api/tensor/calls.h"
#include "lua/api/tensor/layer_call.h"
#include "lua/api/tensor/tensor.h"
#include "lua/bind/bind.h"

namespace gpubench::lua {
namespace {

class TraceScope {
 public:
  TraceScope(Dispatcher& dispatcher, const TracedReplica* replica)
      : dispatcher_(dispatcher), trace_(dispatcher.begin_trace(replica)) {}
  ~TraceScope() { dispatcher_.end_trace(); }
  TraceScope(const TraceScope&) = delete;
  TraceScope& operator=(const TraceScope&) = delete;
  const std::shared_ptr<Trace>& trace() const { return trace_; }

 private:
  Dispatcher& dispatcher_;
  std::shared_ptr<Trace> trace_;
};

std::string ways_out(const std::string& what) {
  constexpr std::string_view of_elements[] = {"map", "filter", "take_while", "scan", "reduce"};
  const std::string other = std::ranges::find(of_elements, what) != std::end(of_elements)
                                ? fmt::format("have Lua called for every element: {}(gb.data.lua_function(fn))", what)
                                : "decide outside of the traced function";
  return fmt::format("write the choice with tensor ops such as gb.where(condition, a, b), or {}", other);
}

/// Whether an error of Lua or of an argument comes of a tensor where a value is needed.
bool wants_a_value(std::string_view text) {
  if (text.find("Tensor") == std::string_view::npos) return false;
  constexpr std::string_view signs[] = {"number expected, got Tensor",  "integer expected, got Tensor",
                                        "boolean expected, got Tensor", "string expected, got Tensor",
                                        "table expected, got Tensor",   "gives one boolean",
                                        "attempt to compare",           "attempt to concatenate"};
  return std::ranges::any_of(signs, [&](auto sign) { return text.find(sign) != std::string_view::npos; });
}

void call_traced(lua_State* L, int arguments, const std::string& what) {
  try {
    protected_call(L, arguments, LUA_MULTRET);
  } catch (const std::exception&) {
    if (!wants_a_value(Machine::of(L).delivered.text)) throw;
    rethrow_with(L, fmt::format(". {} traces this function once, with tensors that have no values yet: {}", what,
                                ways_out(what)));
  }
}

/// By node: whether a result or an effect needs it.
std::vector<bool> needed(const Graph& graph, const std::vector<gpubench::Value>& outputs) {
  const std::vector<Node>& nodes = graph.nodes();
  std::vector<bool> flags(nodes.size());
  const auto mark = [&](gpubench::Value value) { flags[static_cast<std::size_t>(value.node)] = true; };
  std::ranges::for_each(outputs, mark);
  for (std::size_t i = nodes.size(); i-- > 0;) {
    if (nodes[i].op->has_effect()) flags[i] = true;
    if (flags[i]) std::ranges::for_each(nodes[i].inputs, mark);
  }
  return flags;
}

/// `if x:gt(0) then` cannot be seen, since Lua asks no tensor for its truth; that nothing else uses the comparison can.
void check_conditions(const Trace& trace, const std::vector<gpubench::Value>& outputs, const std::string& what) {
  if (trace.conditions.empty()) return;
  std::vector<gpubench::Value> read = outputs;
  read.insert(read.end(), trace.losses.begin(), trace.losses.end());
  const std::vector<bool> flags = needed(trace.graph, read);
  for (const Trace::Condition& condition : trace.conditions) {
    if (flags[static_cast<std::size_t>(condition.value.node)]) continue;
    throw Error(
        fmt::format("{}: {}: no result of the function depends on this comparison. If it was to decide a branch: Lua "
                    "takes every tensor for true, and while the function is traced it has no value; {}",
                    what, condition.origin, ways_out(what)));
  }
}

/// Whether the table is more than one tensor written as nested lists of numbers.
bool is_structure(lua_State* L, int index) {
  if (!lua_istable(L, index)) return false;
  lua_pushnil(L);
  while (lua_next(L, index) != 0) {
    const bool structure = lua_type(L, -2) == LUA_TSTRING || Value<Tensor>::matches(L, -1);
    lua_pop(L, 1);
    if (!structure) continue;
    lua_pop(L, 1);
    return true;
  }
  return false;
}

void check_result(lua_State* L, int index, int number, const std::string& what) {
  if (is_structure(L, index)) {
    throw Error(
        fmt::format("{}: the traced function returned a table of tensors as result {}; return them one after "
                    "the other: return image, label",
                    what, number));
  }
  if (Value<TensorLike>::matches(L, index)) return;
  const char* const hint = what == "map" ? "; gb.data.lua_function(fn) returns strings too" : "";
  throw Error(fmt::format("{}: the traced function returned {}{} as result {}; it can return tensors and numbers{}",
                          what, lua_isnil(L, index) ? "" : "a ", type_name_at(L, index), number,
                          lua_isstring(L, index) != 0 ? hint : ""));
}

}  // namespace

void rethrow_with(lua_State* L, const std::string& remark) {
  PassingError& error = Machine::of(L).delivered;
  if (error.exception != std::current_exception()) throw;
  error.text += remark;
  error.exception = std::make_exception_ptr(Error(error.text));
  std::rethrow_exception(error.exception);
}

std::vector<gpubench::Value> call_in_trace(lua_State* L, const PushCall& push, const std::string& what,
                                           std::vector<gpubench::Value>* masks) {
  Dispatcher& dispatcher = world_of(L).dispatcher;
  const int bottom = lua_gettop(L);
  call_traced(L, push(L), what);
  std::vector<gpubench::Value> outputs;
  const int count = lua_gettop(L) - bottom;
  for (int i = 1; i <= count; ++i) {
    check_result(L, bottom + i, i, what);
    const Tensor result = read_tensor(L, bottom + i);
    outputs.push_back(dispatcher.symbol(result));
    if (masks != nullptr) {
      masks->push_back(result.mask() == nullptr ? gpubench::Value{} : dispatcher.symbol(*result.mask()));
    }
  }
  lua_settop(L, bottom);
  check_conditions(*dispatcher.trace(), outputs, what);
  return outputs;
}

TracedFunction trace_function(lua_State* L, const LuaFunction& function, const std::vector<TracedInput>& inputs,
                              const std::string& what, CallCounter* counter, const TracedReplica* replica) {
  const WorldPtr world = session_of(L).placement.world();
  const TraceScope scope(world->dispatcher, replica);
  Graph& graph = scope.trace()->graph;
  scope.trace()->by_element = counter == nullptr;
  if (counter != nullptr) {
    scope.trace()->count_calls = [counter, &world = *world](Graph& counted) { return counter->count(counted, world); };
  }
  const auto push = [&](lua_State* running) {
    luaL_checkstack(running, static_cast<int>(inputs.size()) + 8, "traced function");
    function.reference().push(running);
    for (const TracedInput& input : inputs) {
      const GraphScope place(graph, input.device, "");
      const std::size_t number = graph.inputs().size() + 1;
      const gpubench::Value value = graph.input(input.type, fmt::format("argument {}", number));
      Value<Tensor>::push(running, Tensor(scope.trace(), value));
    }
    return static_cast<int>(inputs.size());
  };
  return {scope.trace(), call_in_trace(function.reference().machine().running(), push, what)};
}

Tensor step_of_draw(lua_State* L) {
  World& world = world_of(L);
  const std::shared_ptr<Trace>& trace = world.dispatcher.trace();
  if (trace == nullptr || trace->by_element || in_trial(L)) {
    return world.dispatcher.constant(HostTensor::scalar(std::int64_t{0}));
  }
  Graph& graph = trace->graph;
  if (!graph.step()) {
    CallCounter own;
    graph.set_step(trace->count_calls ? trace->count_calls(graph) : own.count(graph, world));
  }
  return {trace, graph.step()};
}

}  // namespace gpubench::lua
