#include "lua/api/train/optimizers.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "core/base/error.h"
#include "core/graph/leaf_ops.h"
#include "core/ops/cast.h"
#include "core/ops/elementwise.h"
#include "core/train/exchange.h"
#include "core/train/store_variables.h"
#include "lua/api/openers.h"
#include "lua/api/tensor/tensor.h"
#include "lua/api/train/config_value.h"
#include "lua/api/train/layers.h"

namespace gpubench::lua {

ChosenOptimizer to_optimizer(const OptimizerArgument& argument) {
  if (const auto* name = std::get_if<std::string>(&argument)) return {make_optimizer(*name), nullptr};
  const auto& object = *std::get<std::shared_ptr<ScriptOptimizer>>(argument);
  return {object.optimizer, object.loss_scale};
}

namespace {

struct OptimizerClassName {
  const char* in_scripts;
  const char* in_core;
};
constexpr OptimizerClassName optimizer_classes[] = {{"Adadelta", "adadelta"}, {"Adagrad", "adagrad"}, {"Adam", "adam"},
                                                    {"AdamW", "adamw"},       {"Adamax", "adamax"},   {"Lion", "lion"},
                                                    {"Nadam", "nadam"},       {"RMSprop", "rmsprop"}, {"SGD", "sgd"}};

/// gb.optimizers.<Class>(options in Keras' order, table of options)
StackFunction optimizer_constructor(const char* name) {
  std::vector<std::string> positional;
  for (const OptimizerKind& kind : optimizer_kinds()) {
    if (kind.name != name) continue;
    for (const ConfigField& option : kind.fields) positional.push_back(option.name);
  }
  return [name, positional](lua_State* L) {
    SchedulePtr schedule = take_schedule(L);
    auto made = std::make_shared<ScriptOptimizer>();
    made->world = session_of(L).placement.world();
    made->optimizer = make_optimizer(name, read_config(L, 1, positional), std::move(schedule));
    Value<std::shared_ptr<ScriptOptimizer>>::push(L, std::move(made));
    return 1;
  };
}

/// gb.optimizers.LossScaleOptimizer(inner_optimizer, options)
int loss_scale_optimizer(lua_State* L) {
  const ChosenOptimizer inner = to_optimizer(Value<OptimizerArgument>::read(L, 1));
  if (inner.loss_scale) throw ArgumentError("the inner optimizer is a LossScaleOptimizer already");
  const Config options("LossScaleOptimizer", LossScale::fields(),
                       read_config(L, 2, {"initial_scale", "dynamic_growth_steps"}));
  auto made = std::make_shared<ScriptOptimizer>();
  made->world = session_of(L).placement.world();
  made->optimizer = inner.optimizer;
  made->loss_scale = std::make_shared<LossScale>(options);
  Value<std::shared_ptr<ScriptOptimizer>>::push(L, std::move(made));
  return 1;
}

VariablePtr variable_of(const Tensor& tensor) {
  if (!tensor.symbolic()) return tensor.variable();
  const Graph& graph = tensor.trace()->graph;
  if (static_cast<std::size_t>(tensor.value().node) >= graph.nodes().size()) return nullptr;  // the trace has ended
  const auto* leaf = dynamic_cast<const VariableOp*>(graph.node(tensor.value()).op.get());
  return leaf == nullptr ? nullptr : leaf->variable();
}

std::vector<VariablePtr> read_variables(lua_State* L, int index) {
  std::vector<VariablePtr> variables;
  for (const Tensor& tensor : Value<std::vector<Tensor>>::read(L, index)) {
    variables.push_back(variable_of(tensor));
    if (!variables.back()) {
      throw ArgumentError(fmt::format("element {} of the variables is a tensor, not a variable", variables.size()));
    }
  }
  return variables;
}

/// Gradients as tapes give them: `false` where there is none.
std::vector<std::optional<Tensor>> read_gradients(lua_State* L, int index, std::size_t count) {
  if (!lua_istable(L, index)) mismatch(L, index, "table of gradients");
  std::vector<std::optional<Tensor>> gradients;
  for (std::size_t i = 1; i <= count; ++i) {
    lua_rawgeti(L, index, static_cast<lua_Integer>(i));
    if (lua_isnil(L, -1))
      throw ArgumentError(fmt::format("got no gradient for variable {} of {}; false stands for none", i, count));
    if (lua_isboolean(L, -1) && lua_toboolean(L, -1) == 0) {
      gradients.emplace_back();
    } else {
      gradients.emplace_back(Value<Tensor>::read(L, -1));
    }
    lua_pop(L, 1);
  }
  return gradients;
}

ScriptOptimizer::Update& update_of(ScriptOptimizer& self, std::vector<VariablePtr> variables) {
  for (const auto& update : self.updates) {
    if (update->variables == variables) return *update;
  }
  self.updates.push_back(std::make_unique<ScriptOptimizer::Update>());
  self.updates.back()->variables = std::move(variables);
  return *self.updates.back();
}

/// Variables of scripts may share a name.
std::string unique_name(const Variable& variable) {
  return fmt::format("{}:{}", variable.name, variable.index);
}

/// Each replica's gradients of its examples' mean loss, as those of the mean over all replicas' examples. The exchanges
/// are called after the variables.
std::vector<Tensor> mean_over_replicas(Dispatcher& dispatcher, const std::vector<Tensor>& gradients,
                                       const std::vector<std::string>& names, const TracedReplica& replica) {
  const auto weight = static_cast<float>(weight_of(replica.share));
  Graph graph;
  graph.set_device(replica.replicas.device(0));
  std::vector<gpubench::Value> parts;
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    const GraphScope scope(graph, graph.device(), names[i]);
    parts.push_back(graph.input(gradients[i].type(), names[i]));
    if (weight == 1) continue;
    const gpubench::Value scalar = ops::cast(graph, graph.constant(weight), gradients[i].type().dtype);
    parts.back() = ops::mul(graph, parts.back(), scalar);
  }
  const std::vector<gpubench::Value> sums = exchange_gradients(graph, parts, replica.replicas.options().compression);
  return dispatcher.apply(graph, gradients, sums);
}

/// optimizer:apply_gradients(gradients, variables): lists of one length.
int apply_gradients(lua_State* L) {
  const auto self = Value<std::shared_ptr<ScriptOptimizer>>::read(L, 1);
  std::vector<VariablePtr> variables = read_variables(L, 3);
  const auto given = read_gradients(L, 2, variables.size());
  if (lua_rawlen(L, 2) > variables.size()) {
    throw ArgumentError(fmt::format("got {} gradients for {} variables", lua_rawlen(L, 2), variables.size()));
  }
  StoreVariables factory = variables_of(session_of(L), *self->world);
  self->optimizer->build(factory, variables);
  if (self->loss_scale) self->loss_scale->build(factory, self->optimizer->iterations()->device);

  std::vector<Tensor> gradients;
  std::vector<std::string> names;
  int missing = 0;  // sets apart graphs in which other gradients are missing
  for (std::size_t i = 0; i < given.size(); ++i) {
    if (given[i]) gradients.push_back(*given[i]), names.push_back(unique_name(*variables[i]));
    if (!given[i]) missing = missing * 31 + static_cast<int>(i) + 1;
  }
  const std::shared_ptr<Trace>& trace = self->world->dispatcher.trace();
  if (trace != nullptr && trace->replica != nullptr)
    gradients = mean_over_replicas(self->world->dispatcher, gradients, names, *trace->replica);
  ScriptOptimizer::Update& update = update_of(*self, std::move(variables));
  update.calls.apply(self->world->dispatcher, gradients, {.kind = missing},
                     [&](Graph& graph, std::span<const gpubench::Value> values) {
                       std::vector<gpubench::Value> all(given.size());
                       std::size_t next = 0;
                       for (std::size_t i = 0; i < given.size(); ++i) {
                         if (given[i]) all[i] = values[next++];
                       }
                       if (const LossScale* const scale = self->loss_scale.get()) {
                         scale->apply_unscaled(graph, *self->optimizer, all, update.variables);
                       } else {
                         self->optimizer->apply_gradients(graph, all, update.variables);
                       }
                       return std::vector<gpubench::Value>{};
                     });
  return 0;
}

/// The loss scale of a LossScaleOptimizer, with its variables.
LossScale& scale_of(lua_State* L, ScriptOptimizer& self, std::string_view method) {
  if (!self.loss_scale) {
    throw Error(fmt::format("Optimizer:{}: {} scales no loss; wrap it by gb.optimizers.LossScaleOptimizer(optimizer)",
                            method, self.optimizer->name()));
  }
  StoreVariables factory = variables_of(session_of(L), *self.world);
  self.loss_scale->build(factory, self.world->dispatcher.device());
  return *self.loss_scale;
}

/// optimizer:get_scaled_loss(loss): what to differentiate.
Tensor get_scaled_loss(lua_State* L, const std::shared_ptr<ScriptOptimizer>& self, const TensorLike& loss) {
  const LossScale& scale = scale_of(L, *self, "get_scaled_loss");
  if (!is_floating(loss.tensor.type().dtype)) {
    throw Error(fmt::format("Optimizer:get_scaled_loss: a floating-point loss is expected, got {}",
                            to_string(loss.tensor.type())));
  }
  const std::array inputs{loss.tensor};
  return self->scale_calls
      .apply(self->world->dispatcher, inputs, {},
             [&](Graph& graph, std::span<const gpubench::Value> values) {
               return std::vector{scale.scaled(graph, values[0])};
             })
      .front();
}

/// optimizer:get_unscaled_gradients(gradients): a list of the same length, `false` where there is none.
int get_unscaled_gradients(lua_State* L) {
  const auto self = Value<std::shared_ptr<ScriptOptimizer>>::read(L, 1);
  const LossScale& scale = scale_of(L, *self, "get_unscaled_gradients");
  const auto given = read_gradients(L, 2, lua_istable(L, 2) ? lua_rawlen(L, 2) : 0);
  std::vector<Tensor> gradients;
  for (const auto& gradient : given) {
    if (gradient) gradients.push_back(*gradient);
  }
  std::vector<Tensor> unscaled;
  if (!gradients.empty()) {
    unscaled = self->unscale_calls.apply(
        self->world->dispatcher, gradients, {},
        [&](Graph& graph, std::span<const gpubench::Value> values) { return scale.unscaled(graph, values); });
  }
  lua_createtable(L, static_cast<int>(given.size()), 0);
  std::size_t next = 0;
  for (std::size_t i = 0; i < given.size(); ++i) {
    if (given[i]) {
      Value<Tensor>::push(L, unscaled[next++]);
    } else {
      lua_pushboolean(L, 0);
    }
    lua_rawseti(L, -2, static_cast<lua_Integer>(i + 1));
  }
  return 1;
}

/// nil without loss scaling.
std::optional<double> loss_scale(const ScriptOptimizer& self) {
  if (!self.loss_scale) return std::nullopt;
  if (!self.loss_scale->scale()) return self.loss_scale->initial_scale();
  self.world->runtime.synchronize();
  return static_cast<double>(self.world->runtime.variables().read(*self.loss_scale->scale()).values<float>()[0]);
}

/// nil without loss scaling.
std::optional<std::int64_t> skipped_steps(const ScriptOptimizer& self) {
  if (!self.loss_scale) return std::nullopt;
  if (!self.loss_scale->skipped_steps()) return 0;
  self.world->runtime.synchronize();
  return self.world->runtime.variables().read(*self.loss_scale->skipped_steps()).values<std::int64_t>()[0];
}

double learning_rate(const ScriptOptimizer& self) {
  return gpubench::learning_rate(self.world->runtime, *self.optimizer);
}

void set_learning_rate(ScriptOptimizer& self, double rate) {
  gpubench::set_learning_rate(self.world->runtime, *self.optimizer, rate);
}

std::int64_t iterations(const ScriptOptimizer& self) {
  if (!self.optimizer->iterations()) return 0;
  self.world->runtime.synchronize();
  return self.world->runtime.variables().read(*self.optimizer->iterations()).values<std::int64_t>()[0];
}

struct DecayExclusions {
  std::vector<std::string> var_names;
  static constexpr auto fields = std::tuple{required("var_names", &DecayExclusions::var_names)};
};

/// optimizer:exclude_from_weight_decay { var_names = { "bias" } }
void exclude_from_weight_decay(const std::shared_ptr<ScriptOptimizer>& self, const DecayExclusions& exclusions) {
  self->optimizer->exclude_from_weight_decay(exclusions.var_names);
}

struct RateGroup {
  std::vector<std::string> var_names;
  double factor = 1;
  static constexpr auto fields =
      std::tuple{required("var_names", &RateGroup::var_names), required("factor", &RateGroup::factor)};
};

/// optimizer:multiply_learning_rate { var_names = { "stem" }, factor = 0.1 }
void multiply_learning_rate(const std::shared_ptr<ScriptOptimizer>& self, const RateGroup& group) {
  self->optimizer->multiply_learning_rate(group.var_names, group.factor);
}

/// optimizer:finalize_variable_values(variables)
int finalize_variable_values(lua_State* L) {
  const auto self = Value<std::shared_ptr<ScriptOptimizer>>::read(L, 1);
  take_averages(self->world->runtime, *self->optimizer, read_variables(L, 2));
  return 0;
}

std::string optimizer_name(const ScriptOptimizer& self) {
  return self.loss_scale ? "loss_scale_optimizer" : self.optimizer->name();
}

}  // namespace

void open_optimizers(lua_State* L) {
  Class<ScriptOptimizer>(L)
      .property<&optimizer_name>("name")
      .property<&iterations>("iterations")
      .property<&learning_rate, &set_learning_rate>("learning_rate")
      .property<&loss_scale>("loss_scale")
      .property<&skipped_steps>("skipped_steps")
      .method<&apply_gradients, 2>("apply_gradients")
      .method<&exclude_from_weight_decay>("exclude_from_weight_decay")
      .method<&finalize_variable_values, 1>("finalize_variable_values")
      .method<&get_scaled_loss>("get_scaled_loss")
      .method<&get_unscaled_gradients, 1>("get_unscaled_gradients")
      .method<&multiply_learning_rate>("multiply_learning_rate");
  const Module gb = Module::root(L);
  const Module optimizers = gb.submodule("optimizers");
  for (const OptimizerClassName& name : optimizer_classes)
    optimizers.constructor(name.in_scripts, optimizer_constructor(name.in_core));
  optimizers.function<&loss_scale_optimizer, any_number>("LossScaleOptimizer");
}

}  // namespace gpubench::lua
