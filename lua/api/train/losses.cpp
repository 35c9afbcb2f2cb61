#include "lua/api/train/losses.h"

#include <array>
#include <fmt/format.h>

#include "core/base/error.h"
#include "core/nn/labels.h"
#include "core/ops/reduce.h"
#include "core/ops/state.h"
#include "core/train/step_loop.h"
#include "core/train/step_losses.h"
#include "lua/api/openers.h"
#include "lua/api/tensor/graph_function.h"
#include "lua/api/tensor/tensor.h"
#include "lua/api/train/config_value.h"
#include "lua/api/train/layers.h"

namespace gpubench::lua {

LossPtr to_loss(const LossArgument& argument) {
  if (const auto* name = std::get_if<std::string>(&argument)) return make_loss(*name);
  if (const auto* object = std::get_if<std::shared_ptr<ScriptLoss>>(&argument)) return (*object)->loss;
  return make_custom_loss("loss", graph_function(std::get<LuaFunction>(argument), "loss"));
}

MetricPtr to_metric(const MetricArgument& argument, std::size_t number) {
  MetricPtr metric;
  if (const auto* name = std::get_if<std::string>(&argument)) metric = make_metric(*name);
  if (const auto* object = std::get_if<std::shared_ptr<ScriptMetric>>(&argument)) metric = (*object)->metric;
  if (const auto* function = std::get_if<LuaFunction>(&argument)) {
    const std::string name = fmt::format("metric_{}", number);
    metric = make_custom_metric(name, graph_function(*function, name));
  }
  if (!metric->takes_values()) return metric;
  throw Error(
      fmt::format("metric '{}': averages numbers of a loop written by hand; "
                  "compile takes metrics of labels and predictions",
                  metric->name()));
}

namespace {

struct LossClassName {
  const char* in_scripts;
  const char* in_core;
};
constexpr LossClassName loss_classes[] = {{"BinaryCrossentropy", "binary_crossentropy"},
                                          {"BinaryFocalCrossentropy", "binary_focal_crossentropy"},
                                          {"CategoricalCrossentropy", "categorical_crossentropy"},
                                          {"CategoricalFocalCrossentropy", "categorical_focal_crossentropy"},
                                          {"CategoricalHinge", "categorical_hinge"},
                                          {"CosineSimilarity", "cosine_similarity"},
                                          {"Dice", "dice"},
                                          {"Hinge", "hinge"},
                                          {"Huber", "huber"},
                                          {"KLDivergence", "kl_divergence"},
                                          {"LogCosh", "log_cosh"},
                                          {"MeanAbsoluteError", "mean_absolute_error"},
                                          {"MeanAbsolutePercentageError", "mean_absolute_percentage_error"},
                                          {"MeanSquaredError", "mean_squared_error"},
                                          {"MeanSquaredLogarithmicError", "mean_squared_logarithmic_error"},
                                          {"Poisson", "poisson"},
                                          {"SparseCategoricalCrossentropy", "sparse_categorical_crossentropy"},
                                          {"SquaredHinge", "squared_hinge"},
                                          {"Tversky", "tversky"}};
constexpr LossClassName metric_classes[] = {{"AUC", "auc"},
                                            {"Accuracy", "accuracy"},
                                            {"BinaryAccuracy", "binary_accuracy"},
                                            {"BinaryCrossentropy", "binary_crossentropy"},
                                            {"BinaryIoU", "binary_io_u"},
                                            {"CategoricalAccuracy", "categorical_accuracy"},
                                            {"CategoricalCrossentropy", "categorical_crossentropy"},
                                            {"CategoricalHinge", "categorical_hinge"},
                                            {"CosineSimilarity", "cosine_similarity"},
                                            {"F1Score", "f1_score"},
                                            {"FalseNegatives", "false_negatives"},
                                            {"FalsePositives", "false_positives"},
                                            {"Hinge", "hinge"},
                                            {"IoU", "io_u"},
                                            {"KLDivergence", "kl_divergence"},
                                            {"LogCoshError", "logcosh"},
                                            {"Mean", "mean"},
                                            {"MeanAbsoluteError", "mean_absolute_error"},
                                            {"MeanAbsolutePercentageError", "mean_absolute_percentage_error"},
                                            {"MeanIoU", "mean_io_u"},
                                            {"MeanSquaredError", "mean_squared_error"},
                                            {"MeanSquaredLogarithmicError", "mean_squared_logarithmic_error"},
                                            {"OneHotIoU", "one_hot_io_u"},
                                            {"OneHotMeanIoU", "one_hot_mean_io_u"},
                                            {"Poisson", "poisson"},
                                            {"Precision", "precision"},
                                            {"R2Score", "r2_score"},
                                            {"Recall", "recall"},
                                            {"RootMeanSquaredError", "root_mean_squared_error"},
                                            {"SparseCategoricalAccuracy", "sparse_categorical_accuracy"},
                                            {"SparseCategoricalCrossentropy", "sparse_categorical_crossentropy"},
                                            {"SparseTopKCategoricalAccuracy", "sparse_top_k_categorical_accuracy"},
                                            {"SquaredHinge", "squared_hinge"},
                                            {"TopKCategoricalAccuracy", "top_k_categorical_accuracy"},
                                            {"TrueNegatives", "true_negatives"},
                                            {"TruePositives", "true_positives"}};

/// gb.losses.<Class>(options)
StackFunction loss_constructor(const char* name) {
  std::vector<std::string> positional;
  for (const LossKind& kind : loss_kinds()) {
    if (kind.name != name) continue;
    for (const ConfigField& option : kind.fields) positional.push_back(option.name);
  }
  return [name, positional](lua_State* L) {
    auto loss = std::make_shared<ScriptLoss>();
    loss->loss = make_loss(name, read_config(L, 1, positional));
    Value<std::shared_ptr<ScriptLoss>>::push(L, std::move(loss));
    return 1;
  };
}

/// gb.metrics.<Class>(required options, options)
StackFunction metric_constructor(const char* name) {
  std::vector<std::string> positional;
  for (const MetricKind& kind : metric_kinds()) {
    for (const ConfigField& option : kind.fields) {
      if (kind.name == name && option.required) positional.push_back(option.name);
    }
  }
  return [name, positional](lua_State* L) {
    auto metric = std::make_shared<ScriptMetric>();
    metric->world = session_of(L).placement.world();
    metric->metric = make_metric(name, read_config(L, 1, positional));
    Value<std::shared_ptr<ScriptMetric>>::push(L, std::move(metric));
    return 1;
  };
}

/// Checks existing labels; traced labels are only checked by the kernel.
void check_labels(lua_State* L, const Loss& loss, const Tensor& labels, const Tensor& predictions) {
  if (!loss.takes_class_indices() || labels.symbolic() || predictions.type().shape.empty()) return;
  const ClassIndexCheck check{loss.name(), 0, predictions.type().shape.back(), loss.ignored_class()};
  check({download(L, labels)});
}

/// Labels and predictions, then the model's inputs for a loss that reads them, or the weights of the examples.
std::vector<Tensor> loss_arguments(lua_State* L, const Loss& loss) {
  std::vector<Tensor> arguments{read_tensor(L, 2), read_tensor(L, 3)};
  if (lua_isnoneornil(L, 4)) return arguments;
  if (!loss.reads_inputs()) {
    arguments.push_back(read_tensor(L, 4));
    return arguments;
  }
  for (Tensor& input : read_one_or_more<Tensor>(L, 4)) arguments.push_back(std::move(input));
  return arguments;
}

/// loss(labels, predictions[, sample_weight]), or with the model's inputs: reduced over the batch.
int call_loss(lua_State* L) {
  const auto self = Value<std::shared_ptr<ScriptLoss>>::read(L, 1);
  std::vector<Tensor> inputs = loss_arguments(L, *self->loss);
  check_labels(L, *self->loss, inputs[0], inputs[1]);
  const bool masked = inputs[1].mask() != nullptr;
  if (masked) inputs.push_back(*inputs[1].mask());
  const auto build = [&](Graph& graph, std::span<const gpubench::Value> values) {
    const GraphScope scope(graph, self->loss->name());
    const gpubench::Values others = values.subspan(2, values.size() - (masked ? 3 : 2));
    const bool weighs = !others.empty() && !self->loss->reads_inputs();
    gpubench::Value losses = self->loss->call(graph, values[0], values[1], weighs ? gpubench::Values{} : others);
    losses = masked_loss(graph, *self->loss, losses, masked ? values.back() : gpubench::Value{},
                         weighs ? others[0] : gpubench::Value{});
    const LossReduction reduction = self->loss->reduction();
    if (graph.type(losses).shape.empty() || reduction == LossReduction::none) return std::vector{losses};
    const bool sum = reduction == LossReduction::sum;
    return std::vector{sum ? ops::reduce_sum(graph, losses) : ops::reduce_mean(graph, losses)};
  };
  const CallVariant variant{.kind = masked ? 1 : 0};
  Value<Tensor>::push(L, self->calls.apply(world_of(L).dispatcher, inputs, variant, build).front());
  return 1;
}

std::string loss_name(const ScriptLoss& self) {
  return self.loss->name();
}

/// Values of a mean, or labels and predictions; then the weights of examples if there are any.
std::vector<Tensor> metric_arguments(lua_State* L, const Metric& metric) {
  if (metric.takes_values()) {
    lua_settop(L, 3);
    lua_pushvalue(L, 2);
    lua_insert(L, 3);
  }
  std::vector<Tensor> arguments{read_tensor(L, 2), read_tensor(L, 3)};
  if (!lua_isnoneornil(L, 4)) arguments.push_back(read_tensor(L, 4));
  return arguments;
}

/// metric:update_state(labels, predictions[, sample_weight]); of a mean metric:update_state(values[, sample_weight]).
int update_state(lua_State* L) {
  const auto self = Value<std::shared_ptr<ScriptMetric>>::read(L, 1);
  const Metric& metric = *self->metric;
  std::vector<Tensor> inputs = metric_arguments(L, metric);
  const bool weighs = inputs.size() > 2, masked = inputs[1].mask() != nullptr;
  if (masked) inputs.push_back(*inputs[1].mask());
  World& world = *self->world;
  const Shape& shape = inputs[1].type().shape;
  if (!metric.averages() && shape.empty()) {
    throw ArgumentError(
        fmt::format("{}: predictions of a batch are expected, got {}", metric.name(), to_string(inputs[1].type())));
  }
  const Shape example = shape.empty() ? Shape{} : Shape(shape.begin() + 1, shape.end());
  const TensorType state{{metric.state_size({example, inputs[1].type().dtype})}, Dtype::f32};
  if (self->state && self->state->type != state) {
    throw Error(fmt::format("{}: predictions have another number of classes than those before, got {}", metric.name(),
                            to_string(inputs[1].type())));
  }
  if (!self->state) {
    self->state = world.runtime.variables().create("metrics/" + metric.name(), HostTensor::zeros(state),
                                                   world.dispatcher.device(), false);
  }
  const CallVariant variant{.kind = masked ? 1 : 0};
  self->calls.apply(world_of(L).dispatcher, inputs, variant,
                    [&](Graph& graph, std::span<const gpubench::Value> values) {
                      const GraphScope scope(graph, metric.name());
                      const gpubench::Value variable = graph.variable(self->state);
                      const gpubench::Value weights = weighs ? values[2] : gpubench::Value{};
                      if (weights && !metric.averages()) {
                        ops::assign_add(graph, variable, metric.weighted(graph, values[0], values[1], weights));
                        return std::vector<gpubench::Value>{};
                      }
                      const gpubench::Value added = metric.call(graph, values[0], values[1]);
                      gpubench::Value sums = added;
                      if (metric.averages()) {
                        sums = masked_sums(graph, metric, added, masked ? values.back() : gpubench::Value{}, weights);
                      }
                      if (sums) ops::assign_add(graph, variable, sums);
                      if (!sums) ops::accumulate_mean(graph, variable, added);
                      return std::vector<gpubench::Value>{};
                    });
  return 0;
}

/// A number, a list of them for several thresholds or classes, or nil.
int metric_result(lua_State* L) {
  const auto self = Value<std::shared_ptr<ScriptMetric>>::read(L, 1);
  if (self->world->dispatcher.trace() != nullptr) {
    throw Error(
        fmt::format("metric '{}': result() is a number, which it does not have while a function is traced; a "
                    "train_step returns the metric itself: return {{ {} = metric }}",
                    self->metric->name(), self->metric->name()));
  }
  std::vector<double> results;
  if (self->state) {
    self->world->runtime.synchronize();
    const HostTensor state = self->world->runtime.variables().read(*self->state);
    results = results_of(self->metric.get(), state.values<float>());
  }
  if (results.empty()) lua_pushnil(L);
  if (results.size() == 1) lua_pushnumber(L, results.front());
  if (results.size() > 1) Value<std::vector<double>>::push(L, results);
  return 1;
}

void reset_state(ScriptMetric& self) {
  if (!self.state) return;
  self.world->runtime.synchronize();
  self.world->runtime.variables().write(*self.state, HostTensor::zeros(self.state->type));
}

std::string metric_name(const ScriptMetric& self) {
  return self.metric->name();
}

}  // namespace

void open_losses(lua_State* L) {
  Class<ScriptLoss>(L).property<&loss_name>("name").call<&call_loss, 3>();
  Class<ScriptMetric>(L)
      .property<&metric_name>("name")
      .method<&update_state, 3>("update_state")
      .method<&metric_result, 0>("result")
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
