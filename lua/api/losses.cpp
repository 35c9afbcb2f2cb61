#include "lua/api/losses.h"

#include <array>
#include <fmt/format.h>

#include "core/base/error.h"
#include "core/ops/reduce.h"
#include "core/ops/state.h"
#include "core/train/step_loop.h"
#include "lua/api/config_value.h"
#include "lua/api/graph_function.h"
#include "lua/api/layers.h"
#include "lua/api/openers.h"
#include "lua/api/tensor.h"

namespace gpubench::lua {

LossPtr to_loss(const LossArgument& argument) {
  if (const auto* name = std::get_if<std::string>(&argument)) return make_loss(*name);
  if (const auto* object = std::get_if<std::shared_ptr<ScriptLoss>>(&argument)) return (*object)->loss;
  return make_custom_loss("loss", graph_function(std::get<LuaFunction>(argument), "loss"));
}

MetricPtr to_metric(const MetricArgument& argument, std::size_t number) {
  if (const auto* name = std::get_if<std::string>(&argument)) return make_metric(*name);
  if (const auto* object = std::get_if<std::shared_ptr<ScriptMetric>>(&argument)) return (*object)->metric;
  const std::string name = fmt::format("metric_{}", number);
  return make_custom_metric(name, graph_function(std::get<LuaFunction>(argument), name));
}

namespace {

struct LossClassName {
  const char* in_scripts;
  const char* in_core;
};
constexpr LossClassName loss_classes[] = {{"CategoricalCrossentropy", "categorical_crossentropy"},
                                          {"SparseCategoricalCrossentropy", "sparse_categorical_crossentropy"},
                                          {"BinaryCrossentropy", "binary_crossentropy"},
                                          {"MeanSquaredError", "mean_squared_error"}};
constexpr LossClassName metric_classes[] = {{"Accuracy", "accuracy"},
                                            {"CategoricalAccuracy", "categorical_accuracy"},
                                            {"SparseCategoricalAccuracy", "sparse_categorical_accuracy"},
                                            {"BinaryAccuracy", "binary_accuracy"},
                                            {"TopKCategoricalAccuracy", "top_k_categorical_accuracy"},
                                            {"MeanSquaredError", "mean_squared_error"},
                                            {"CategoricalCrossentropy", "categorical_crossentropy"},
                                            {"SparseCategoricalCrossentropy", "sparse_categorical_crossentropy"},
                                            {"BinaryCrossentropy", "binary_crossentropy"}};

/// gb.losses.<Class>{options}
StackFunction loss_constructor(const char* name) {
  return [name](lua_State* L) {
    auto loss = std::make_shared<ScriptLoss>();
    loss->loss = make_loss(name, read_config(L, 1, {}));
    Value<std::shared_ptr<ScriptLoss>>::push(L, std::move(loss));
    return 1;
  };
}

StackFunction metric_constructor(const char* name) {
  return [name](lua_State* L) {
    auto metric = std::make_shared<ScriptMetric>();
    metric->world = session_of(L).world();
    metric->metric = make_metric(name, read_config(L, 1, {}));
    Value<std::shared_ptr<ScriptMetric>>::push(L, std::move(metric));
    return 1;
  };
}

/// Checks existing labels; traced labels are only checked by the kernel.
void check_labels(lua_State* L, const Loss& loss, const Tensor& labels, const Tensor& predictions) {
  if (!loss.takes_class_indices() || labels.symbolic() || predictions.type().shape.empty()) return;
  const ClassIndexCheck check{loss.name(), 0, predictions.type().shape.back()};
  check({download(L, labels)});
}

/// Labels and predictions, then the model's inputs for a loss that reads them.
std::vector<Tensor> loss_arguments(lua_State* L, const Loss& loss) {
  std::vector<Tensor> arguments{read_tensor(L, 2), read_tensor(L, 3)};
  if (lua_isnoneornil(L, 4)) return arguments;
  if (!loss.reads_inputs()) {
    throw ArgumentError(fmt::format("{} takes labels and predictions, and no inputs of the model", loss.name()));
  }
  for (Tensor& input : read_one_or_more<Tensor>(L, 4)) arguments.push_back(std::move(input));
  return arguments;
}

/// loss(labels, predictions[, inputs]): the mean over the batch.
int call_loss(lua_State* L) {
  const auto self = Value<std::shared_ptr<ScriptLoss>>::read(L, 1);
  const std::vector<Tensor> inputs = loss_arguments(L, *self->loss);
  check_labels(L, *self->loss, inputs[0], inputs[1]);
  const auto build = [&](Graph& graph, std::span<const gpubench::Value> values) {
    const GraphScope scope(graph, self->loss->name());
    const gpubench::Value losses = self->loss->call(graph, values[0], values[1], values.subspan(2));
    return std::vector{graph.type(losses).shape.empty() ? losses : ops::reduce_mean(graph, losses)};
  };
  Value<Tensor>::push(L, self->calls.apply(world_of(L).dispatcher, inputs, {}, build).front());
  return 1;
}

std::string loss_name(const ScriptLoss& self) {
  return self.loss->name();
}

void update_state(lua_State* L, ScriptMetric& self, const TensorLike& labels, const TensorLike& predictions) {
  World& world = *self.world;
  if (!self.state) {
    const HostTensor zeros = HostTensor::zeros({{2}, Dtype::f32});
    self.state =
        world.runtime.variables().create("metrics/" + self.metric->name(), zeros, world.dispatcher.device(), false);
  }
  const std::array inputs{labels.tensor, predictions.tensor};
  self.calls.apply(world_of(L).dispatcher, inputs, {}, [&](Graph& graph, std::span<const gpubench::Value> values) {
    const GraphScope scope(graph, self.metric->name());
    ops::accumulate_mean(graph, graph.variable(self.state), self.metric->call(graph, values[0], values[1]));
    return std::vector<gpubench::Value>{};
  });
}

std::optional<double> metric_result(const ScriptMetric& self) {
  if (!self.state) return std::nullopt;
  self.world->runtime.synchronize();
  const HostTensor state = self.world->runtime.variables().read(*self.state);
  const auto values = state.values<float>();
  if (!(values[1] > 0)) return std::nullopt;
  return static_cast<double>(values[0]) / static_cast<double>(values[1]);
}

void reset_state(ScriptMetric& self) {
  if (!self.state) return;
  self.world->runtime.synchronize();
  self.world->runtime.variables().write(*self.state, HostTensor::zeros({{2}, Dtype::f32}));
}

std::string metric_name(const ScriptMetric& self) {
  return self.metric->name();
}

}  // namespace

void open_losses(lua_State* L) {
  Class<ScriptLoss>(L).property<&loss_name>("name").meta<&call_loss>("__call");
  Class<ScriptMetric>(L)
      .property<&metric_name>("name")
      .method<&update_state>("update_state")
      .method<&metric_result>("result")
      .method<&reset_state>("reset_state");
  const Module gb = Module::root(L);
  {
    const Module losses = gb.submodule("losses");
    for (const LossClassName& name : loss_classes) losses.value(name.in_scripts, loss_constructor(name.in_core));
  }
  const Module metrics = gb.submodule("metrics");
  for (const LossClassName& name : metric_classes) metrics.value(name.in_scripts, metric_constructor(name.in_core));
}

}  // namespace gpubench::lua
