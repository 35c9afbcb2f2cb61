// gb.tape and gb.compile: loops written by hand, differentiated eagerly or traced once into a plan.
#include <array>
#include <fmt/format.h>
#include <memory>

#include "core/base/error.h"
#include "core/base/interrupt.h"
#include "core/device/device.h"
#include "core/exec/executor.h"
#include "core/exec/gradient_tape.h"
#include "core/exec/plan_cache.h"
#include "lua/api/openers.h"
#include "lua/api/tensor/calls.h"
#include "lua/api/tensor/graph_function.h"
#include "lua/api/tensor/pass_options.h"
#include "lua/api/tensor/tensor.h"
#include "lua/api/tensor/trace.h"
#include "lua/bind/bind.h"

namespace gpubench::lua {
namespace {

/// A tape and the world that it records in.
struct ScriptTape {
  explicit ScriptTape(WorldPtr in) : world(std::move(in)), tape(world->dispatcher) {}
  WorldPtr world;
  GradientTape tape;
};

/// The source-to-executor side of gb.compile: one plan per types of the arguments.
class CompiledFunction {
 public:
  CompiledFunction(WorldPtr world, LuaFunction function, ExecutorOptions options)
      : world_(std::move(world)), function_(std::move(function)), options_(std::move(options)) {}

  std::vector<Tensor> call(lua_State* L, const std::vector<Tensor>& arguments) {
    std::vector<TensorType> types;
    for (const Tensor& argument : arguments) types.push_back(argument.type());
    const std::shared_ptr<Planned> held = plans_.get(types, [&](const auto&) { return plan(L, arguments); });
    Planned& planned = *held;
    std::vector<Tensor> placed;
    std::vector<TensorView> views;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      placed.push_back(world_->dispatcher.eager().transfer(arguments[i], planned.inputs[i]));
      views.push_back(placed.back().view());
    }
    check_interrupt();
    planned.executor->run(views);
    std::vector<Tensor> results;
    for (std::size_t i = 0; i < planned.outputs.size(); ++i) {
      results.push_back(copy(planned.executor->result(static_cast<int>(i)), planned.outputs[i]));
    }
    return results;
  }

  const LuaFunction& function() const { return function_; }
  const ExecutorOptions& options() const { return options_; }
  std::int64_t traces() const { return static_cast<std::int64_t>(plans_.size()); }

 private:
  struct Planned {
    std::unique_ptr<Executor> executor;
    std::vector<DeviceId> inputs, outputs;
  };

  std::unique_ptr<Planned> plan(lua_State* L, const std::vector<Tensor>& arguments) {
    auto planned = std::make_unique<Planned>();
    std::vector<TracedInput> inputs;
    for (const Tensor& argument : arguments) {
      inputs.push_back({argument.type(), argument.device()});
      planned->inputs.push_back(argument.device());
    }
    TracedFunction traced = trace_function(L, function_, inputs, "compile", &counter_);
    for (const gpubench::Value output : traced.outputs) {
      planned->outputs.push_back(traced.trace->graph.node(output).device);
    }
    planned->executor = make_executor(world_->runtime, std::move(traced.trace->graph), traced.outputs, options_);
    return planned;
  }

  /// Out of the plan's memory, which the next call overwrites.
  Tensor copy(const TensorView& result, const DeviceId& id) {
    Device& device = world_->devices.device(id);
    Buffer buffer = device.memory().allocate(result.type->bytes(), "compiled result");
    device.stream().copy(buffer.data(), result.data, result.type->bytes());
    return {*result.type, id, std::move(buffer)};
  }

  WorldPtr world_;
  LuaFunction function_;
  ExecutorOptions options_;
  CallCounter counter_;
  PlanCache<Planned> plans_;
};

}  // namespace

template <>
inline constexpr const char* class_name<ScriptTape> = "Tape";
template <>
inline constexpr const char* class_name<CompiledFunction> = "CompiledFunction";

namespace {

/// Stops a tape, also where its function fails.
class StopAtEnd {
 public:
  explicit StopAtEnd(GradientTape& tape) : tape_(tape) {}
  ~StopAtEnd() { tape_.stop(); }
  StopAtEnd(const StopAtEnd&) = delete;
  StopAtEnd& operator=(const StopAtEnd&) = delete;

 private:
  GradientTape& tape_;
};

/// gb.tape(): a tape that records from now on. gb.tape(fn): records while fn(tape) runs and returns what fn returns.
int tape(lua_State* L) {
  const auto made = std::make_shared<ScriptTape>(session_of(L).placement.world());
  if (lua_isnoneornil(L, 1)) {
    Value<std::shared_ptr<ScriptTape>>::push(L, made);
    return 1;
  }
  const auto function = Value<LuaFunction>::read(L, 1);
  lua_settop(L, 1);
  Value<std::shared_ptr<ScriptTape>>::push(L, made);
  const StopAtEnd recording(made->tape);
  protected_call(L, 1, LUA_MULTRET);
  return lua_gettop(L);
}

/// One gradient per source, `false` where the target does not depend on it.
int gradient(lua_State* L) {
  const auto tape = Value<std::shared_ptr<ScriptTape>>::read(L, 1);
  const auto target = Value<Tensor>::read(L, 2);
  const bool one = Value<Tensor>::matches(L, 3);
  const auto sources = one ? std::vector{Value<Tensor>::read(L, 3)} : Value<std::vector<Tensor>>::read(L, 3);
  const std::vector<Tensor> gradients = tape->tape.gradient(target, sources);
  if (!one) lua_createtable(L, static_cast<int>(gradients.size()), 0);
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    if (gradients[i]) {
      Value<Tensor>::push(L, gradients[i]);
    } else {
      lua_pushboolean(L, false);
    }
    if (!one) lua_rawseti(L, -2, static_cast<lua_Integer>(i + 1));
  }
  return 1;
}

void stop(ScriptTape& tape) {
  tape.tape.stop();
}

struct CompileOptions {
  PassSwitches passes;
  static constexpr auto fields = std::tuple{field("passes", &CompileOptions::passes)};
};

std::shared_ptr<CompiledFunction> compile(lua_State* L, const LuaFunction& function, const CompileOptions& options) {
  return std::make_shared<CompiledFunction>(session_of(L).placement.world(), function,
                                            ExecutorOptions{Execution::graph, options.passes.options(), true});
}

int call_compiled(lua_State* L) {
  const auto compiled = Value<std::shared_ptr<CompiledFunction>>::read(L, 1);
  World& world = world_of(L);
  if (world.dispatcher.trace() != nullptr) {  // inside another traced function: its ops become part of that one
    compiled->function().reference().push(L);
    lua_replace(L, 1);
    protected_call(L, lua_gettop(L) - 1, LUA_MULTRET);
    return lua_gettop(L);
  }
  std::vector<Tensor> arguments;
  for (int i = 2; i <= lua_gettop(L); ++i) {
    if (!Value<TensorLike>::matches(L, i)) {
      throw ArgumentError(
          fmt::format("argument {} of a compiled function: a Tensor is expected, got {}; other values "
                      "are taken as they are when the function is traced, as upvalues",
                      i - 1, type_name_at(L, i)));
    }
    arguments.push_back(read_tensor(L, i));
  }
  const std::vector<Tensor> results = compiled->call(L, arguments);
  luaL_checkstack(L, static_cast<int>(results.size()), "results");
  for (const Tensor& result : results) Value<Tensor>::push(L, result);
  return static_cast<int>(results.size());
}

}  // namespace

const PassOptions* passes_of_compiled(lua_State* L, int index) {
  using Compiled = Value<std::shared_ptr<CompiledFunction>>;
  return Compiled::matches(L, index) ? &Compiled::read(L, index)->options().passes : nullptr;
}

void open_compile(lua_State* L) {
  Class<ScriptTape>(L).method<&gradient, 2>("gradient").method<&stop>("stop");
  Class<CompiledFunction>(L).property<&CompiledFunction::traces>("traces").call<&call_compiled, any_number>();
  const Module gb = Module::root(L);
  gb.function<&tape, 1>("tape").function<&compile>("compile");
}

}  // namespace gpubench::lua
