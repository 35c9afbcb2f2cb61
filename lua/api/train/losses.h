// gb.losses and gb.metrics: objects for compile and for hand-written loops.
#pragma once
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "core/nn/loss.h"
#include "core/nn/metric.h"
#include "lua/api/session.h"
#include "lua/api/tensor/calls.h"
#include "lua/bind/bind.h"

namespace gpubench::lua {

struct ScriptLoss {
  LossPtr loss;
  TensorCalls calls;
};
template <>
inline constexpr const char* class_name<ScriptLoss> = "Loss";

struct ScriptMetric {
  WorldPtr world;
  MetricPtr metric;
  VariablePtr state;  // created by the first update_state()
  TensorCalls calls;
};
template <>
inline constexpr const char* class_name<ScriptMetric> = "Metric";

/// A loss or metric as an argument of compile: a name, an object, or a function of labels and predictions.
using LossArgument = std::variant<std::string, std::shared_ptr<ScriptLoss>, LuaFunction>;
using MetricArgument = std::variant<std::string, std::shared_ptr<ScriptMetric>, LuaFunction>;

LossPtr to_loss(const LossArgument& argument);
/// `number` is for naming a function: "metric_1".
MetricPtr to_metric(const MetricArgument& argument, std::size_t number);

}  // namespace gpubench::lua
