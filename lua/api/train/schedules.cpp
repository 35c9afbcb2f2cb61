// gb.schedules: learning rates as functions of the step, and schedules in an optimizer's options.
#include <array>
#include <fmt/format.h>

#include "core/base/error.h"
#include "core/ops/cast.h"
#include "lua/api/openers.h"
#include "lua/api/tensor/graph_function.h"
#include "lua/api/tensor/tensor.h"
#include "lua/api/train/config_value.h"
#include "lua/api/train/optimizers.h"

namespace gpubench::lua {
namespace {

using ScheduleHandle = std::shared_ptr<ScriptSchedule>;

struct ScheduleClassName {
  const char* in_scripts;
  const char* in_core;
};
constexpr ScheduleClassName schedule_classes[] = {{"CosineDecay", "cosine_decay"},
                                                  {"CosineDecayRestarts", "cosine_decay_restarts"},
                                                  {"ExponentialDecay", "exponential_decay"},
                                                  {"InverseTimeDecay", "inverse_time_decay"},
                                                  {"PolynomialDecay", "polynomial_decay"}};

void push_schedule(lua_State* L, SchedulePtr schedule) {
  auto made = std::make_shared<ScriptSchedule>();
  made->schedule = std::move(schedule);
  Value<ScheduleHandle>::push(L, std::move(made));
}

/// gb.schedules.<Class>(arguments, options)
StackFunction schedule_constructor(const ScheduleKind& kind) {
  return [&kind](lua_State* L) {
    push_schedule(L, make_schedule(kind.name, read_config(L, 1, kind.positional)));
    return 1;
  };
}

/// gb.schedules.PiecewiseConstantDecay(boundaries, values)
int piecewise_constant_decay(lua_State* L) {
  const auto boundaries = Value<std::vector<double>>::read(L, 1), values = Value<std::vector<double>>::read(L, 2);
  push_schedule(L, make_piecewise_constant_decay(boundaries, values));
  return 1;
}

/// schedule(step): the rate, as a float32 tensor.
Tensor call_schedule(lua_State* L, const ScheduleHandle& self, const TensorLike& step) {
  if (!step.tensor.type().shape.empty())
    throw ArgumentError(fmt::format("the step is one number, got {}", to_string(step.tensor.type())));
  const std::array inputs{step.tensor};
  const auto build = [&](Graph& graph, std::span<const gpubench::Value> values) {
    return std::vector{self->schedule->call(graph, ops::cast(graph, values[0], Dtype::i64))};
  };
  return self->calls.apply(world_of(L).dispatcher, inputs, {}, build).front();
}

std::string schedule_text(const ScriptSchedule&) {
  return "Schedule";
}

SchedulePtr schedule_at(lua_State* L, int index) {
  if (Value<ScheduleHandle>::matches(L, index)) return Value<ScheduleHandle>::read(L, index)->schedule;
  if (lua_isfunction(L, index)) return make_traced_schedule(step_function(Value<LuaFunction>::read(L, index)));
  return nullptr;
}

}  // namespace

SchedulePtr take_schedule(lua_State* L) {
  if (SchedulePtr schedule = schedule_at(L, 1)) {
    if (lua_istable(L, -1)) {
      if (lua_getfield(L, -1, "learning_rate") != LUA_TNIL)
        throw ArgumentError("option 'learning_rate' is given twice, by its place and by its name");
      lua_pop(L, 1);
    }
    lua_pushnil(L);  // the next argument keeps its place
    lua_replace(L, 1);
    return schedule;
  }
  if (!lua_istable(L, 1)) return nullptr;
  lua_getfield(L, 1, "learning_rate");
  SchedulePtr schedule = schedule_at(L, -1);
  lua_pop(L, 1);
  if (!schedule) return nullptr;
  // A copy without it, because the script may use its table again.
  lua_newtable(L);
  lua_pushnil(L);
  while (lua_next(L, 1) != 0) {
    lua_pushvalue(L, -2);
    lua_insert(L, -2);
    lua_settable(L, -4);
  }
  lua_pushnil(L);
  lua_setfield(L, -2, "learning_rate");
  lua_replace(L, 1);
  return schedule;
}

void open_schedules(lua_State* L) {
  Class<ScriptSchedule>(L).meta<&schedule_text>("__tostring").call<&call_schedule>();
  const Module gb = Module::root(L);
  const Module schedules = gb.submodule("schedules");
  for (const ScheduleKind& kind : schedule_kinds()) {
    for (const ScheduleClassName& name : schedule_classes) {
      if (kind.name == name.in_core) schedules.constructor(name.in_scripts, schedule_constructor(kind));
    }
  }
  schedules.function<&piecewise_constant_decay, 2>("PiecewiseConstantDecay");
}

}  // namespace gpubench::lua
