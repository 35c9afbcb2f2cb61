// gb.optimizers and gb.schedules: for compile, and for hand-written loops with a tape.
#pragma once
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "core/train/loss_scale.h"
#include "core/train/optimizer.h"
#include "lua/api/session.h"
#include "lua/api/tensor/calls.h"
#include "lua/bind/bind.h"

namespace gpubench::lua {

struct ScriptOptimizer {
  /// The update of one set of variables.
  struct Update {
    std::vector<VariablePtr> variables;
    TensorCalls calls;
  };
  WorldPtr world;
  OptimizerPtr optimizer;
  LossScalePtr loss_scale;  ///< of a LossScaleOptimizer; its inner optimizer is `optimizer`
  std::vector<std::unique_ptr<Update>> updates;
  TensorCalls scale_calls, unscale_calls;
};
template <>
inline constexpr const char* class_name<ScriptOptimizer> = "Optimizer";

struct ScriptSchedule {
  SchedulePtr schedule;
  TensorCalls calls;
};
template <>
inline constexpr const char* class_name<ScriptSchedule> = "Schedule";

/// An optimizer as an argument of compile: a name or an object.
using OptimizerArgument = std::variant<std::string, std::shared_ptr<ScriptOptimizer>>;
struct ChosenOptimizer {
  OptimizerPtr optimizer;
  LossScalePtr loss_scale;
};
ChosenOptimizer to_optimizer(const OptimizerArgument& argument);

/// Takes a schedule, or a function of the step, out of an optimizer's arguments, where learning_rate may be one instead
/// of a number: the first argument, or an option of the table. Null for a number.
SchedulePtr take_schedule(lua_State* L);

}  // namespace gpubench::lua
