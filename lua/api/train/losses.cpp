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

/// `positional`: the options that may stand without their names, as in Keras. Names that are no options here keep the
/// places of those behind them.
struct LossClassName {
  const char* in_scripts;
  const char* in_core;
  std::vector<std::string> positional;
};
const LossClassName loss_classes[] = {
    {"BinaryCrossentropy", "binary_crossentropy", {"from_logits", "label_smoothing", "axis", "reduction"}},
    {"BinaryFocalCrossentropy",
     "binary_focal_crossentropy",
     {"apply_class_balancing", "alpha", "gamma", "from_logits", "label_smoothing", "axis", "reduction"}},
    {"CategoricalCrossentropy", "categorical_crossentropy", {"from_logits", "label_smoothing", "axis", "reduction"}},
    {"CategoricalFocalCrossentropy",
     "categorical_focal_crossentropy",
     {"alpha", "gamma", "from_logits", "label_smoothing", "axis", "reduction"}},
    {"CategoricalHinge", "categorical_hinge", {"reduction"}},
    {"CosineSimilarity", "cosine_similarity", {"axis", "reduction"}},
    {"Dice", "dice", {"reduction", "name", "axis"}},
    {"Hinge", "hinge", {"reduction"}},
    {"Huber", "huber", {"delta", "reduction"}},
    {"KLDivergence", "kl_divergence", {"reduction"}},
    {"LogCosh", "log_cosh", {"reduction"}},
    {"MeanAbsoluteError", "mean_absolute_error", {"reduction"}},
    {"MeanAbsolutePercentageError", "mean_absolute_percentage_error", {"reduction"}},
    {"MeanSquaredError", "mean_squared_error", {"reduction"}},
    {"MeanSquaredLogarithmicError", "mean_squared_logarithmic_error", {"reduction"}},
    {"Poisson", "poisson", {"reduction"}},
    {"SparseCategoricalCrossentropy",
     "sparse_categorical_crossentropy",
     {"from_logits", "ignore_class", "reduction", "axis"}},
    {"SquaredHinge", "squared_hinge", {"reduction"}},
    {"Tversky", "tversky", {"alpha", "beta", "reduction", "name", "axis"}}};
const LossClassName metric_classes[] = {
    {"AUC",
     "auc",
     {"num_thresholds", "curve", "summation_method", "name", "dtype", "thresholds", "multi_label", "num_labels",
      "label_weights", "from_logits"}},
    {"Accuracy", "accuracy", {"name", "dtype"}},
    {"BinaryAccuracy", "binary_accuracy", {"name", "dtype", "threshold"}},
    {"BinaryCrossentropy", "binary_crossentropy", {"name", "dtype", "from_logits", "label_smoothing"}},
    {"BinaryIoU", "binary_io_u", {"target_class_ids", "threshold"}},
    {"CategoricalAccuracy", "categorical_accuracy", {"name", "dtype"}},
    {"CategoricalCrossentropy",
     "categorical_crossentropy",
     {"name", "dtype", "from_logits", "label_smoothing", "axis"}},
    {"CategoricalHinge", "categorical_hinge", {"name", "dtype"}},
    {"CosineSimilarity", "cosine_similarity", {"name", "dtype", "axis"}},
    {"F1Score", "f1_score", {"average", "threshold"}},
    {"FalseNegatives", "false_negatives", {"thresholds"}},
    {"FalsePositives", "false_positives", {"thresholds"}},
    {"Hinge", "hinge", {"name", "dtype"}},
    {"IoU",
     "io_u",
     {"num_classes", "target_class_ids", "name", "dtype", "ignore_class", "sparse_y_true", "sparse_y_pred", "axis"}},
    {"KLDivergence", "kl_divergence", {"name", "dtype"}},
    {"LogCoshError", "logcosh", {"name", "dtype"}},
    {"Mean", "mean", {"name", "dtype"}},
    {"MeanAbsoluteError", "mean_absolute_error", {"name", "dtype"}},
    {"MeanAbsolutePercentageError", "mean_absolute_percentage_error", {"name", "dtype"}},
    {"MeanIoU",
     "mean_io_u",
     {"num_classes", "name", "dtype", "ignore_class", "sparse_y_true", "sparse_y_pred", "axis"}},
    {"MeanSquaredError", "mean_squared_error", {"name", "dtype"}},
    {"MeanSquaredLogarithmicError", "mean_squared_logarithmic_error", {"name", "dtype"}},
    {"OneHotIoU",
     "one_hot_io_u",
     {"num_classes", "target_class_ids", "name", "dtype", "ignore_class", "sparse_y_pred", "axis"}},
    {"OneHotMeanIoU", "one_hot_mean_io_u", {"num_classes", "name", "dtype", "ignore_class", "sparse_y_pred", "axis"}},
    {"Poisson", "poisson", {"name", "dtype"}},
    {"Precision", "precision", {"thresholds", "top_k", "class_id"}},
    {"R2Score", "r2_score", {"class_aggregation", "num_regressors"}},
    {"Recall", "recall", {"thresholds", "top_k", "class_id"}},
    {"RootMeanSquaredError", "root_mean_squared_error", {"name", "dtype"}},
    {"SparseCategoricalAccuracy", "sparse_categorical_accuracy", {"name", "dtype"}},
    {"SparseCategoricalCrossentropy",
     "sparse_categorical_crossentropy",
     {"name", "dtype", "from_logits", "ignore_class", "axis"}},
    {"SparseTopKCategoricalAccuracy", "sparse_top_k_categorical_accuracy", {"k", "name", "dtype", "from_sorted_ids"}},
    {"SquaredHinge", "squared_hinge", {"name", "dtype"}},
    {"TopKCategoricalAccuracy", "top_k_categorical_accuracy", {"k"}},
    {"TrueNegatives", "true_negatives", {"thresholds"}},
    {"TruePositives", "true_positives", {"thresholds"}}};

/// gb.losses.<Class>(options in Keras' order, table of options)
StackFunction loss_constructor(const LossClassName& of) {
  return [&of](lua_State* L) {
    auto loss = std::make_shared<ScriptLoss>();
    loss->loss = make_loss(of.in_core, read_config(L, 1, of.positional));
    Value<std::shared_ptr<ScriptLoss>>::push(L, std::move(loss));
    return 1;
  };
}

/// gb.metrics.<Class>, as losses.
StackFunction metric_constructor(const LossClassName& of) {
  return [&of](lua_State* L) {
    auto metric = std::make_shared<ScriptMetric>();
    metric->world = session_of(L).placement.world();
    metric->metric = make_metric(of.in_core, read_config(L, 1, of.positional));
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
    for (const LossClassName& name : loss_classes) losses.constructor(name.in_scripts, loss_constructor(name));
  }
  const Module metrics = gb.submodule("metrics");
  for (const LossClassName& name : metric_classes) metrics.constructor(name.in_scripts, metric_constructor(name));
}

}  // namespace gpubench::lua
