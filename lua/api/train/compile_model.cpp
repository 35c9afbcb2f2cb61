// model:compile: the optimizer, losses, metrics and execution of a model.
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/error.h"
#include "core/base/terminal.h"
#include "core/train/weighted_metric.h"
#include "lua/api/tensor/pass_options.h"
#include "lua/api/train/by_name.h"
#include "lua/api/train/custom_step.h"
#include "lua/api/train/losses.h"
#include "lua/api/train/model.h"
#include "lua/api/train/optimizers.h"

namespace gpubench::lua {
namespace {

using MetricsOption =
    ListOrNamed<std::variant<std::string, std::shared_ptr<ScriptMetric>, LuaFunction, std::vector<MetricArgument>>>;

struct CompileTable {
  OptimizerArgument optimizer = std::string("rmsprop");
  std::optional<std::variant<std::string, std::shared_ptr<ScriptLoss>, LuaFunction, ListOrNamed<LossArgument>>> loss;
  ListOrNamed<double> loss_weights;
  MetricsOption metrics, weighted_metrics;
  std::string execution = "graph";
  bool run_eagerly = false;
  PassSwitches passes;
  int input_slots = 2;
  bool pin_inputs = true;
  bool auto_scale_loss = true;
  std::int64_t gradient_accumulation_steps = 1;
  std::vector<std::string> recompute;
  std::optional<std::int64_t> recompute_budget;
  std::variant<bool, std::vector<std::string>> offload = false;
  std::int64_t offload_ahead = OffloadOptions{}.ahead;
  static constexpr auto fields =
      std::tuple{field("optimizer", &CompileTable::optimizer),
                 field("loss", &CompileTable::loss),
                 field("loss_weights", &CompileTable::loss_weights),
                 field("metrics", &CompileTable::metrics),
                 field("weighted_metrics", &CompileTable::weighted_metrics),
                 field("execution", &CompileTable::execution),
                 field("run_eagerly", &CompileTable::run_eagerly),
                 field("passes", &CompileTable::passes),
                 field("input_slots", &CompileTable::input_slots),
                 field("pin_inputs", &CompileTable::pin_inputs),
                 field("auto_scale_loss", &CompileTable::auto_scale_loss),
                 field("gradient_accumulation_steps", &CompileTable::gradient_accumulation_steps),
                 field("recompute", &CompileTable::recompute),
                 field("recompute_budget", &CompileTable::recompute_budget),
                 field("offload", &CompileTable::offload),
                 field("offload_ahead", &CompileTable::offload_ahead)};
};

CompileConfig::Offload offload_of(const CompileTable& table, Execution execution) {
  constexpr std::int64_t most_ahead = 1000;
  if (table.offload_ahead < 0 || table.offload_ahead > most_ahead) {
    throw ArgumentError(fmt::format("option 'offload_ahead': a number of layers from 0 to {} is expected, got {}",
                                    most_ahead, table.offload_ahead));
  }
  CompileConfig::Offload offload{.ahead = static_cast<int>(table.offload_ahead)};
  if (const auto* const layers = std::get_if<std::vector<std::string>>(&table.offload)) {
    if (layers->empty()) throw ArgumentError("option 'offload': true, or at least one layer's name is expected");
    offload.layers = *layers;
  } else {
    offload.all = std::get<bool>(table.offload);
  }
  if (execution == Execution::eager && (offload.all || !offload.layers.empty())) {
    throw ArgumentError("option 'offload': activations are offloaded in graph execution only, and eager was asked for");
  }
  return offload;
}

/// As in Keras, models with mixed_float16 scale their loss by default.
LossScalePtr loss_scale_of(const CompileTable& table, const ChosenOptimizer& optimizer, const Model& model) {
  if (optimizer.loss_scale || !table.auto_scale_loss) return optimizer.loss_scale;
  const auto narrow = [](const LayerPtr& layer) {
    return layer->policy().mixed() && layer->policy().compute == Dtype::f16;
  };
  if (std::ranges::none_of(model.layers(), narrow)) return nullptr;
  return std::make_shared<LossScale>(Config("LossScaleOptimizer", LossScale::fields(), {}));
}

/// `named` in the order of the model's outputs. Throws ArgumentError for a name that is no output.
template <class T>
std::vector<const T*> by_output(const Model& model, const std::map<std::string, T>& named, const char* option) {
  const std::vector<std::string> outputs = model.output_names();
  for (const auto& entry : named) {
    if (std::ranges::find(outputs, entry.first) != outputs.end()) continue;
    throw ArgumentError(fmt::format("option '{}': the model has no output '{}'; its outputs: {}", option, entry.first,
                                    fmt::join(outputs, ", ")));
  }
  std::vector<const T*> ordered;
  for (const std::string& output : outputs) {
    const auto found = named.find(output);
    ordered.push_back(found == named.end() ? nullptr : &found->second);
  }
  return ordered;
}

std::vector<LossPtr> losses_of(const CompileTable& table, const Model& model) {
  std::vector<LossPtr> losses;
  if (!table.loss) return losses;
  if (const auto* several = std::get_if<ListOrNamed<LossArgument>>(&*table.loss)) {
    for (const LossArgument& loss : several->list) losses.push_back(to_loss(loss));
    if (!losses.empty()) return losses;
    const std::vector<std::string> outputs = model.output_names();
    for (const LossArgument* const loss : by_output(model, several->named, "loss")) {
      if (loss == nullptr) {
        throw ArgumentError(fmt::format("option 'loss': output '{}' has none; each of {} needs one",
                                        outputs[losses.size()], fmt::join(outputs, ", ")));
      }
      losses.push_back(to_loss(*loss));
    }
    return losses;
  }
  LossArgument one;
  if (const auto* name = std::get_if<std::string>(&*table.loss)) one = *name;
  if (const auto* object = std::get_if<std::shared_ptr<ScriptLoss>>(&*table.loss)) one = *object;
  if (const auto* function = std::get_if<LuaFunction>(&*table.loss)) one = *function;
  return {to_loss(one)};
}

/// Outputs without a name in the table have the weight 1.
std::vector<double> loss_weights_of(const CompileTable& table, const Model& model) {
  std::vector<double> weights = table.loss_weights.list;
  if (!table.loss_weights.named.empty()) {
    for (const double* const weight : by_output(model, table.loss_weights.named, "loss_weights"))
      weights.push_back(weight == nullptr ? 1 : *weight);
  }
  for (const double weight : weights) {
    if (!std::isfinite(weight))
      throw ArgumentError(fmt::format("option 'loss_weights': a number is expected, got {}", weight));
  }
  return weights;
}

/// Metrics of the only output, or of each of several; `own` is empty or has a list for each output.
struct ChosenMetrics {
  std::vector<MetricPtr> all;
  std::vector<std::vector<MetricPtr>> own;
};

/// As in Keras, a list is for the only output, or has an entry for each of several, one metric or a list; a table has
/// such entries by names. `count`: of metrics read.
ChosenMetrics read_metrics(const MetricsOption& given, const Model& model, const char* option, std::size_t& count) {
  using Entry = decltype(given.list)::value_type;
  const auto append = [&](const Entry& entry, std::vector<MetricPtr>& metrics) {
    const auto add = [&](const MetricArgument& metric) { metrics.push_back(to_metric(metric, ++count)); };
    if (const auto* list = std::get_if<std::vector<MetricArgument>>(&entry)) std::ranges::for_each(*list, add);
    if (const auto* name = std::get_if<std::string>(&entry)) add(*name);
    if (const auto* object = std::get_if<std::shared_ptr<ScriptMetric>>(&entry)) add(*object);
    if (const auto* function = std::get_if<LuaFunction>(&entry)) add(*function);
  };
  ChosenMetrics chosen;
  const std::vector<std::string> outputs = model.output_names();
  if (outputs.size() <= 1) {
    for (const Entry& entry : given.list) append(entry, chosen.all);
  } else if (!given.list.empty()) {
    if (given.list.size() != outputs.size()) {
      throw ArgumentError(
          fmt::format("option '{}': the model has the outputs {}: a list with a metric or a list for each of the {} is "
                      "expected, or a table by their names; got a list of {}",
                      option, fmt::join(outputs, ", "), outputs.size(), given.list.size()));
    }
    for (const Entry& entry : given.list) append(entry, chosen.own.emplace_back());
  }
  if (given.named.empty()) return chosen;
  for (const Entry* const entry : by_output(model, given.named, option)) {
    chosen.own.emplace_back();
    if (entry != nullptr) append(*entry, chosen.own.back());
  }
  return chosen;
}

/// As in Keras, a weighted metric whose name is taken by another one of the output is called "weighted_accuracy".
void append_weighted(const std::vector<MetricPtr>& weighted, const std::vector<MetricPtr>& others,
                     std::vector<MetricPtr>& to) {
  for (const MetricPtr& metric : weighted) {
    const bool taken =
        std::ranges::any_of(others, [&](const MetricPtr& other) { return other->name() == metric->name(); });
    to.push_back(std::make_shared<const WeightedMetric>(metric, (taken ? "weighted_" : "") + metric->name()));
  }
}

void choose_metrics(const CompileTable& table, const Model& model, CompileConfig& config) {
  std::size_t count = 0;
  const ChosenMetrics plain = read_metrics(table.metrics, model, "metrics", count);
  const ChosenMetrics weighted = read_metrics(table.weighted_metrics, model, "weighted_metrics", count);
  config.metrics = plain.all;
  config.output_metrics = plain.own;
  std::vector<MetricPtr> others = plain.all;
  for (const auto& own : plain.own) others.insert(others.end(), own.begin(), own.end());
  append_weighted(weighted.all, others, config.metrics);
  config.output_metrics.resize(std::max(plain.own.size(), weighted.own.size()));
  for (std::size_t i = 0; i < weighted.own.size(); ++i) {
    others = plain.all;
    if (!plain.own.empty()) others.insert(others.end(), plain.own[i].begin(), plain.own[i].end());
    append_weighted(weighted.own[i], others, config.output_metrics[i]);
  }
}

/// Only a model with a train_step of its own needs no loss.
void require_loss(const CompileTable& table, const ScriptModel& model) {
  if (table.loss) return;
  if (!model.train_step) option_required("loss");
  const auto refuse = [](const char* option) {
    throw ArgumentError(
        fmt::format("option '{}': goes with a loss; the figures of a train_step are those that it "
                    "returns",
                    option));
  };
  if (!table.metrics.list.empty() || !table.metrics.named.empty()) refuse("metrics");
  if (!table.weighted_metrics.list.empty() || !table.weighted_metrics.named.empty()) refuse("weighted_metrics");
  if (!table.loss_weights.list.empty() || !table.loss_weights.named.empty()) refuse("loss_weights");
}

/// The optimizer as the script sees it: the object that it gave, unless compile has put loss scaling around it.
std::shared_ptr<ScriptOptimizer> script_optimizer(const OptimizerArgument& given, const CompileConfig& config,
                                                  const WorldPtr& world) {
  const auto* const object = std::get_if<std::shared_ptr<ScriptOptimizer>>(&given);
  if (object != nullptr && (*object)->loss_scale == config.loss_scale) return *object;
  auto made = std::make_shared<ScriptOptimizer>();
  made->world = world;
  made->optimizer = config.optimizer;
  made->loss_scale = config.loss_scale;
  return made;
}

}  // namespace

/// model:compile { optimizer = , loss = , metrics = { ... }, execution = "graph" }
int compile_model(lua_State* L) {
  const auto self = Value<std::shared_ptr<ScriptModel>>::read(L, 1);
  const auto table = Value<CompileTable>::read(L, 2);
  self->trainer()->require_idle("compile");
  require_loss(table, *self);
  CompileConfig config;
  config.warn = print_message;
  const ChosenOptimizer optimizer = to_optimizer(table.optimizer);
  config.optimizer = optimizer.optimizer;
  config.loss_scale = loss_scale_of(table, optimizer, *self->model);
  config.losses = losses_of(table, *self->model);
  config.loss_weights = loss_weights_of(table, *self->model);
  choose_metrics(table, *self->model, config);
  config.executor.execution = table.run_eagerly ? Execution::eager : parse_execution(table.execution);
  config.executor.passes = table.passes.options();
  config.executor.input_slots = table.input_slots;
  config.pin_inputs = table.pin_inputs;
  if (table.gradient_accumulation_steps < 1) {
    throw ArgumentError(fmt::format("option 'gradient_accumulation_steps': at least 1 is expected, got {}",
                                    table.gradient_accumulation_steps));
  }
  config.gradient_accumulation_steps = table.gradient_accumulation_steps;
  if (table.recompute_budget && !table.recompute.empty()) {
    throw ArgumentError("options 'recompute' and 'recompute_budget': names of layers are expected, or a budget");
  }
  if (table.recompute_budget.value_or(1) < 1) {
    throw ArgumentError(
        fmt::format("option 'recompute_budget': bytes are expected, at least 1, got {}", *table.recompute_budget));
  }
  config.recompute = table.recompute;
  config.recompute_budget = static_cast<std::size_t>(table.recompute_budget.value_or(0));
  config.offload = offload_of(table, config.executor.execution);
  config.replicas = self->replicas;
  if (self->train_step) config.train_step = make_custom_step(self, "train_step", self->train_step);
  if (self->test_step) config.test_step = make_custom_step(self, "test_step", self->test_step);
  self->optimizer = script_optimizer(table.optimizer, config, self->world);
  self->compile(std::move(config));
  return 0;
}

}  // namespace gpubench::lua
