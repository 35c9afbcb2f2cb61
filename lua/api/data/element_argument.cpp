#include "lua/api/data/element_argument.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <lua.hpp>
#include <memory>
#include <optional>
#include <vector>

#include "core/base/error.h"
#include "core/base/interrupt.h"
#include "core/data/dataset.h"
#include "core/data/element/random_fill.h"
#include "core/data/function/chained_function.h"
#include "core/data/function/element_function.h"
#include "core/data/function/graph_function.h"
#include "core/data/types.h"
#include "lua/api/data/element_function.h"
#include "lua/api/data/portable_function.h"
#include "lua/api/openers.h"
#include "lua/api/session.h"
#include "lua/api/tensor/plain_values.h"
#include "lua/api/tensor/shape.h"
#include "lua/api/tensor/trace.h"
#include "lua/bind/bind.h"
#include "lua/bind/load_text.h"

namespace gpubench::lua {
namespace {

// gb.data.lua_function: a function of elements that runs in Lua. Every worker of the pipeline has its own Lua state
// with a copy of the function, so there is no lock, and nothing is shared with the script.

const std::string what = "lua_function";
/// Lua instructions between two checks for Ctrl-C.
constexpr int instructions_between_looks = 100000;

void look_for_interrupt(lua_State* L, lua_Debug*) {
  if (interrupt_requested() || timeout_requested()) luaL_error(L, "interrupted");
}

/// What Lua's own library has that computes without side effects.
void open_libraries(lua_State* L) {
  constexpr luaL_Reg libraries[] = {{LUA_GNAME, luaopen_base},
                                    {LUA_MATHLIBNAME, luaopen_math},
                                    {LUA_STRLIBNAME, luaopen_string},
                                    {LUA_TABLIBNAME, luaopen_table},
                                    {LUA_UTF8LIBNAME, luaopen_utf8}};
  for (const luaL_Reg& library : libraries) {
    luaL_requiref(L, library.name, library.func, 1);
    lua_pop(L, 1);
  }
  for (const char* name : {"dofile", "loadfile"}) {
    lua_pushnil(L);
    lua_setglobal(L, name);
  }
  lua_getglobal(L, "load");
  push_text_only(L, 3);
  lua_setglobal(L, "load");
}

/// A Lua state with nothing of the script's. All that happens in it is protected: errors of Lua, and of its memory,
/// leave as Error and OutOfMemory.
class WorkerState {
 public:
  explicit WorkerState(const PortableFunction& function) : L_(luaL_newstate()) {
    if (!L_) throw OutOfMemory("lua_function: no memory for a Lua state");
    run_protected([&](lua_State* L) {
      open_libraries(L);
      lua_getglobal(L, "math");
      lua_getfield(L, -1, "randomseed");
      seed_ = luaL_ref(L, LUA_REGISTRYINDEX);
      lua_pop(L, 1);
      function.push(L);
      function_ = luaL_ref(L, LUA_REGISTRYINDEX);
    });
    lua_sethook(L_.get(), &look_for_interrupt, LUA_MASKCOUNT, instructions_between_looks);
  }

  /// Calls the function for the element of this number, and take(L, count) with its results on the stack from 1 on.
  /// math.random draws anew from there: by the stage's seed and the number alone, whichever worker calls.
  template <class Take>
  void call(std::span<const TensorView> inputs, const CounterRandom& random, std::int64_t number, const Take& take) {
    run_protected([&](lua_State* L) {
      luaL_checkstack(L, static_cast<int>(inputs.size()) + 4, "values of an element");
      lua_rawgeti(L, LUA_REGISTRYINDEX, seed_);
      for (const std::uint64_t half : {0U, 1U}) {
        lua_pushinteger(L, static_cast<lua_Integer>(random.bits(2 * static_cast<std::uint64_t>(number) + half)));
      }
      lua_call(L, 2, 0);
      lua_rawgeti(L, LUA_REGISTRYINDEX, function_);
      for (const TensorView& input : inputs) push_plain(L, input, what);
      lua_call(L, static_cast<int>(inputs.size()), LUA_MULTRET);
      take(L, lua_gettop(L));
    });
  }

 private:
  struct Close {
    void operator()(lua_State* L) const { lua_close(L); }
  };

  /// Calls body(L) on an empty stack where an error of Lua ends; what the body throws goes on. This state has no
  /// Machine, so that no function of it is an entry<>.
  template <class Body>
  void run_protected(const Body& body) {
    struct Call {
      const Body& body;
      std::exception_ptr thrown;
    } call{body, nullptr};
    lua_State* const L = L_.get();
    lua_settop(L, 0);
    lua_pushcfunction(L, [](lua_State* S) {
      auto& called = *static_cast<Call*>(lua_touserdata(S, 1));
      lua_settop(S, 0);
      try {
        called.body(S);
      } catch (const std::exception&) {
        called.thrown = std::current_exception();
      }
      return 0;
    });
    lua_pushlightuserdata(L, &call);
    const int status = lua_pcall(L, 1, 0, 0);
    if (call.thrown) std::rethrow_exception(call.thrown);
    if (status == LUA_OK) return;
    check_interrupt();
    if (status == LUA_ERRMEM) throw OutOfMemory("lua_function: the machine's memory does not suffice");
    throw Error(fmt::format("{}: {}", what, error_text(L, -1)));
  }

  std::unique_ptr<lua_State, Close> L_;
  int seed_ = 0;
  int function_ = 0;
};

class LuaRunner final : public ElementRunner {
 public:
  LuaRunner(const PortableFunction& function, const std::vector<TensorType>& outputs, std::uint64_t seed)
      : state_(function), outputs_(outputs), random_(seed, 0) {}

  void run(const ElementBlock& elements, ElementOutputs& outputs) override {
    state_.call(elements.inputs, random_, elements.number, [&](lua_State* L, int count) {
      if (static_cast<std::size_t>(count) != outputs_.size()) {
        throw Error(fmt::format("{}: the function returned {} values where {} are expected: {}", what, count,
                                outputs_.size(), to_string(outputs_)));
      }
      for (int i = 0; i < count; ++i) {
        const auto at = static_cast<std::size_t>(i);
        const HostTensor result = read_plain(L, i + 1, outputs_[at], fmt::format("{}: result {}", what, i + 1));
        std::memcpy(outputs.place(at, result.type()), result.data(), result.bytes());
      }
    });
  }

 private:
  WorkerState state_;
  const std::vector<TensorType> outputs_;
  const CounterRandom random_;
};

class LuaElementFunction final : public ElementFunction {
 public:
  LuaElementFunction(std::shared_ptr<const PortableFunction> function, std::optional<std::vector<TensorType>> outputs,
                     std::uint64_t seed = 0)
      : function_(std::move(function)), outputs_(std::move(outputs)), seed_(seed) {}

  std::vector<TensorType> output_types(TensorTypes) const override { return outputs_.value(); }
  bool takes_any_extents() const override { return true; }
  std::unique_ptr<ElementRunner> plan(TensorTypes) const override {
    return std::make_unique<LuaRunner>(*function_, outputs_.value(), seed_);
  }

  bool knows_outputs() const { return outputs_.has_value(); }

  std::shared_ptr<const ElementFunction> with_seed(std::uint64_t seed) const {
    return std::make_shared<LuaElementFunction>(function_, outputs_, seed);
  }

  std::shared_ptr<const ElementFunction> with_outputs_of(const Element& element, std::uint64_t seed) const {
    std::vector<TensorView> inputs;
    for (const HostTensor& tensor : element) inputs.push_back(tensor.view());
    WorkerState state(*function_);
    std::vector<TensorType> types;
    state.call(inputs, CounterRandom(seed, 0), 0, [&](lua_State* L, int count) {
      for (int i = 1; i <= count; ++i) types.push_back(plain_type(L, i, fmt::format("{}: result {}", what, i)));
    });
    if (types.empty()) throw Error("lua_function: the function returned nothing; it returns the new element's values");
    return std::make_shared<LuaElementFunction>(function_, std::move(types), seed);
  }

 private:
  std::shared_ptr<const PortableFunction> function_;
  std::optional<std::vector<TensorType>> outputs_;
  std::uint64_t seed_;
};

struct LuaFunctionTable {
  std::optional<std::vector<std::string>> output;
  static constexpr auto fields = std::tuple{field("output", &LuaFunctionTable::output)};
};

/// gb.data.lua_function(fn, { output = { "float32[2]" } })
std::shared_ptr<const ElementFunction> make_lua_function(lua_State* L, const LuaFunction& function,
                                                         const LuaFunctionTable& table) {
  function.reference().push(L);
  auto portable = std::make_shared<const PortableFunction>(L, -1, what);
  lua_pop(L, 1);
  if (!table.output) return std::make_shared<LuaElementFunction>(std::move(portable), std::nullopt);
  std::vector<TensorType> types;
  for (const std::string& text : *table.output) types.push_back(parse_type(text, what));
  if (types.empty()) throw ArgumentError("option 'output': at least one type is expected");
  return std::make_shared<LuaElementFunction>(std::move(portable), std::move(types));
}

/// Returns other functions unchanged, and a Lua function as a copy for one stage: it draws random numbers from the
/// session's next seed, and undeclared outputs get the types of its results for the source's first element.
std::shared_ptr<const ElementFunction> bound_to_source(lua_State* L, std::shared_ptr<const ElementFunction> function,
                                                       const Dataset& source, const Element& state) {
  const auto* lua = dynamic_cast<const LuaElementFunction*>(function.get());
  if (lua == nullptr) return function;
  const std::uint64_t seed = session_of(L).random.next_seed();
  if (lua->knows_outputs()) return lua->with_seed(seed);
  Element element;
  if (!source.open()->next(element)) {
    throw Error(
        "lua_function: the dataset is empty, so the function's results are unknown; declare them: output = {...}");
  }
  element.insert(element.begin(), state.begin(), state.end());
  return lua->with_outputs_of(element, seed);
}

/// `guess` replaces varying extents.
TracedElement trace_element(lua_State* L, const LuaFunction& function, const Element& state, const Dataset& source,
                            std::int64_t guess, const std::string& what) {
  // Maps run on the host, wherever the script places its models.
  const WorldPtr world = session_of(L).placement.world();
  const DeviceScope host(world->dispatcher, DeviceId{});
  std::vector<TracedInput> inputs;
  for (const HostTensor& tensor : state) inputs.push_back({tensor.type(), DeviceId{}});
  for (TensorType type : source.element_types()) {
    std::replace(type.shape.begin(), type.shape.end(), varying, guess);
    inputs.push_back({std::move(type), DeviceId{}});
  }
  const bool varies = !is_fixed(source.element_types());
  std::optional<ReadExtents> reads;
  TracedFunction traced;
  try {
    if (varies) reads.emplace(L);
    traced = trace_function(L, function, inputs, what, nullptr);
  } catch (const std::exception&) {
    if (!varies) throw;
    rethrow_with(L, fmt::format(". Elements are {}; {} traces the function with {} for every extent that varies",
                                to_string(source.element_types()), what, guess));
  }
  if (traced.outputs.empty()) {
    throw Error(fmt::format("{}: the function returned nothing; it returns the new element's tensors", what));
  }
  return {std::move(traced.trace->graph), std::move(traced.outputs),
          reads ? std::move(reads->values) : std::vector<std::int64_t>{}};
}

}  // namespace

std::shared_ptr<const ElementFunction> element_function(lua_State* L, const ElementArgument& given,
                                                        const Dataset& source, const std::string& what,
                                                        const Element& state) {
  if (const auto* native = std::get_if<std::shared_ptr<const ElementFunction>>(&given)) {
    return bound_to_source(L, *native, source, state);
  }
  if (const auto* lookup = std::get_if<std::shared_ptr<Lookup>>(&given)) return lookup_function(**lookup);
  const auto& function = std::get<LuaFunction>(given);
  Session& session = session_of(L);
  const std::uint64_t seeds = session.random.seeds_given();
  TracedElement trace = trace_element(L, function, state, source, extent_guesses[0], what);
  if (is_fixed(source.element_types())) return graph_function(std::move(trace));
  session.random.give_seeds_again(seeds);
  return graph_function(std::move(trace), trace_element(L, function, state, source, extent_guesses[1], what));
}

void open_lua_function(lua_State* L) {
  {
    const Module gb = Module::root(L);
    const Module data = gb.submodule("data");
    data.function<&make_lua_function>("lua_function");
  }
  Class<ElementFunction>{L};
}

}  // namespace gpubench::lua
