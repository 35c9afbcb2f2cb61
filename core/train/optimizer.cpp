#include "core/train/optimizer.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <limits>

#include "core/base/error.h"
#include "core/device/device.h"
#include "core/exec/executor.h"
#include "core/nn/constraint.h"
#include "core/ops/broadcast.h"
#include "core/ops/cast.h"
#include "core/ops/elementwise.h"
#include "core/ops/state.h"

namespace gpubench {
namespace {

/// Throws Error for several limits, as Keras does, and for limits that are not positive.
GradientClip clip_of(const Config& config) {
  std::string given;
  for (const char* const name : {"clipnorm", "clipvalue", "global_clipnorm"}) {
    const double limit = config.number(name);
    if (!(limit > 0)) throw Error(fmt::format("{}: {} must be above 0, got {}", config.owner(), name, limit));
    if (limit == GradientClip::none) continue;
    if (!given.empty()) {
      throw Error(fmt::format("{}: only one of clipnorm, clipvalue and global_clipnorm can be given, got {} and {}",
                              config.owner(), given, name));
    }
    given = name;
  }
  const bool global = given == "global_clipnorm";
  return {.value = config.number("clipvalue"),
          .norm = config.number(global ? "global_clipnorm" : "clipnorm"),
          .global = global};
}

}  // namespace

Optimizer::Optimizer(Config config, SchedulePtr schedule)
    : config_(std::move(config)), schedule_(std::move(schedule)), owner_(make_owner(name())) {
  config_.number_within("learning_rate", 0, std::numeric_limits<double>::infinity());
  clip_ = clip_of(config_);
  averages_ = config_.flag("use_ema");
  average_momentum_ = config_.number("ema_momentum");
  if (!(average_momentum_ >= 0 && average_momentum_ <= 1))
    throw Error(fmt::format("{}: ema_momentum must be from 0 to 1, got {}", name(), average_momentum_));
  overwrite_frequency_ = config_.integer_from("ema_overwrite_frequency", 0);
  if (overwrite_frequency_ > 0 && !averages_)
    throw Error(fmt::format("{}: ema_overwrite_frequency needs use_ema = true", name()));
}

void Optimizer::exclude_from_weight_decay(std::vector<std::string> texts) {
  if (iterations_) {
    throw Error(fmt::format("optimizer {}: exclude_from_weight_decay must be called before the first step", name()));
  }
  not_decayed_ = std::move(texts);
}

void Optimizer::multiply_learning_rate(std::vector<std::string> texts, double factor) {
  if (iterations_) {
    throw Error(fmt::format("optimizer {}: multiply_learning_rate must be called before the first step", name()));
  }
  if (!(factor >= 0) || !std::isfinite(factor)) {
    throw Error(fmt::format("optimizer {}: multiply_learning_rate: a factor of at least 0 is expected, got {}", name(),
                            factor));
  }
  rates_.push_back({std::move(texts), factor});
}

void Optimizer::take_groups_of(const Optimizer& other) {
  not_decayed_ = other.not_decayed_;
  rates_ = other.rates_;
}

Optimizer::Place Optimizer::place_of(const Variable& variable) const {
  const auto in_name = [&](const std::string& text) { return variable.name.find(text) != std::string::npos; };
  double rate = 1;
  for (const RateGroup& group : rates_) {
    if (std::ranges::any_of(group.texts, in_name)) rate = group.factor;
  }
  return {variable.device, variable.type.dtype, std::ranges::none_of(not_decayed_, in_name), rate};
}

void Optimizer::require_named(std::span<const VariablePtr> variables) const {
  for (const RateGroup& group : rates_) {
    for (const std::string& text : group.texts) {
      const auto has = [&](const VariablePtr& variable) { return variable->name.find(text) != std::string::npos; };
      if (std::ranges::any_of(variables, has)) continue;
      std::vector<std::string> names;
      for (const VariablePtr& variable : variables) names.push_back(variable->name);
      throw Error(fmt::format("optimizer {}: multiply_learning_rate: '{}' is in the name of no variable ({})", name(),
                              text, fmt::join(names, ", ")));
    }
  }
}

bool Optimizer::is_known(const VariablePtr& variable) const {
  return std::ranges::any_of(slots_, [&](const OwnedSlots& slots) { return slots.of.lock() == variable; });
}

// The step counter is one for all variables. A model whose frozen layers are trained from now on has more of them.
void Optimizer::require_one_model(std::span<const VariablePtr> variables) const {
  const auto added = std::ranges::find_if(variables, [&](const VariablePtr& one) { return !is_known(one); });
  if (!iterations_ || added == variables.end()) return;
  const auto other = std::ranges::find_if(slots_, [&](const OwnedSlots& slots) {
    return std::ranges::find(variables, slots.of.lock()) == variables.end();
  });
  if (!slots_.empty() && other == slots_.end() && !averages_) return;
  if (!slots_.empty() && other == slots_.end()) {
    throw Error(
        fmt::format("optimizer {}: '{}' is trained from now on, and an average begins with the first step; "
                    "make another optimizer",
                    name(), (*added)->name));
  }
  throw Error(fmt::format("optimizer {}: it serves another model, of which '{}' is no variable; make another optimizer",
                          name(), (*added)->name));
}

void Optimizer::build(VariableFactory& factory, std::span<const VariablePtr> variables) {
  if (variables.empty()) throw Error(fmt::format("optimizer {}: there are no trainable variables", name()));
  std::erase_if(slots_, [](const OwnedSlots& slots) { return slots.of.expired(); });
  require_one_model(variables);
  if (!iterations_) require_named(variables);
  const DeviceId& device = variables[0]->device;
  if (!iterations_) {
    iterations_ = factory.create(name() + "/iterations", HostTensor::scalar<std::int64_t>(0), device, false, owner_);
    if (!schedule_) {
      const auto rate = static_cast<float>(config_.number("learning_rate"));
      learning_rate_ = factory.create(name() + "/learning_rate", HostTensor::scalar(rate), device, false, owner_);
    }
  }
  for (const VariablePtr& variable : variables) {
    if (is_known(variable)) continue;
    OwnedSlots slots{variable, {}};
    const auto add = [&](const std::string& slot, double start) {
      const HostTensor initial =
          start == 0 ? HostTensor::zeros(variable->type) : Initializer{.first = start}.make(variable->type, 0);
      slots.slots.push_back(factory.create(fmt::format("{}/{}/{}", name(), variable->name, slot), initial,
                                           variable->device, false, variable->owner));
    };
    for (const std::string& slot : slot_names()) add(slot, slot_start());
    if (averages_) add("average", 0);  // the first step puts the variable there
    slots_.push_back(std::move(slots));
  }
}

const Optimizer::OwnedSlots& Optimizer::slots_of(const VariablePtr& variable) const {
  for (const OwnedSlots& slots : slots_) {
    if (slots.of.lock() == variable) return slots;
  }
  throw Error(fmt::format("optimizer {}: was not built for the variable {}", name(), variable->name));
}

void Optimizer::apply_gradients(Graph& graph, Values gradients, std::span<const VariablePtr> variables,
                                Value found_infinity) const {
  if (gradients.size() != variables.size()) {
    throw Error(
        fmt::format("optimizer {}: got {} gradients for {} variables", name(), gradients.size(), variables.size()));
  }
  std::vector<Place> places;
  for (std::size_t i = 0; i < variables.size(); ++i) {
    if (!gradients[i]) continue;
    if (graph.type(gradients[i]) != variables[i]->type) {
      throw Error(fmt::format("optimizer {}: the gradient of {} must be {}, got {}", name(), variables[i]->name,
                              to_string(variables[i]->type), to_string(graph.type(gradients[i]))));
    }
    const Place place = place_of(*variables[i]);
    if (std::find(places.begin(), places.end(), place) == places.end()) places.push_back(place);
  }
  if (places.empty()) {
    throw Error(fmt::format("optimizer {}: the loss depends on none of the {} variables", name(), variables.size()));
  }

  const GraphScope scope(graph, iterations_->device, owner_, Role::update);
  const Value before = graph.variable(iterations_);
  const Value rate = schedule_ ? schedule_->call(graph, before) : graph.variable(learning_rate_);
  const Value one = graph.constant(HostTensor::scalar<std::int64_t>(1));
  const Value count = found_infinity ? ops::sub(graph, one, ops::cast(graph, found_infinity, Dtype::i64)) : one;
  Scalars scalars{rate, ops::assign_add(graph, before, count), {found_infinity, clip_, {}}};
  if (clip_.global) scalars.control.squares = global_squares(graph, places, gradients, variables);
  for (const Place& place : places) update_place(graph, place, scalars, gradients, variables);
  if (averages_) average(graph, scalars, variables);
  for (std::size_t i = 0; i < variables.size(); ++i) {
    if (gradients[i]) apply_constraint(graph, variables[i], found_infinity);
  }
}

Value Optimizer::global_squares(Graph& graph, std::span<const Place> places, Values gradients,
                                std::span<const VariablePtr> variables) const {
  Value all;
  std::vector<DeviceId> devices;
  for (const Place& place : places) {
    if (std::ranges::find(devices, place.device) != devices.end()) continue;
    devices.push_back(place.device);
    std::vector<Value> own;
    for (std::size_t i = 0; i < variables.size(); ++i) {
      if (gradients[i] && variables[i]->device == place.device) own.push_back(gradients[i]);
    }
    const GraphScope scope(graph, place.device, owner_, Role::update);
    const Value squares = ops::sums_of_squares(graph, own, true);
    const GraphScope joined(graph, iterations_->device, owner_, Role::update);
    all = all ? ops::add(graph, all, squares) : squares;
  }
  return all;
}

void Optimizer::update_place(Graph& graph, const Place& place, const Scalars& scalars, Values gradients,
                             std::span<const VariablePtr> variables) const {
  const GraphScope scope(graph, place.device, owner_, Role::update);
  std::vector<Value> updated, by;
  Slots slots(slot_names().size());
  for (std::size_t i = 0; i < variables.size(); ++i) {
    if (!gradients[i] || place_of(*variables[i]) != place) continue;
    updated.push_back(graph.variable(variables[i]));
    by.push_back(gradients[i]);
    const OwnedSlots& own = slots_of(variables[i]);
    for (std::size_t k = 0; k < slots.size(); ++k) slots[k].push_back(graph.variable(own.slots[k]));
  }
  Scalars own_scalars = scalars;
  own_scalars.decays = place.decays;
  if (place.rate != 1)
    own_scalars.learning_rate = ops::mul(graph, scalars.learning_rate, ops::scalar(graph, place.rate, Dtype::f32));
  if (clip_.norm < GradientClip::none && !clip_.global)
    own_scalars.control.squares = ops::sums_of_squares(graph, by, false);
  update(graph, own_scalars, updated, by, slots);
}

void Optimizer::average(Graph& graph, const Scalars& scalars, std::span<const VariablePtr> variables) const {
  const std::array each{scalars.learning_rate, scalars.step};  // an average has no rate, and the op reads one
  ops::UpdateControl control;
  control.found_infinity = scalars.control.found_infinity;
  std::vector<Place> done;
  for (const VariablePtr& first : variables) {
    const Place place{first->device, first->type.dtype, true, 1};
    if (std::ranges::find(done, place) != done.end()) continue;
    done.push_back(place);
    const GraphScope scope(graph, place.device, owner_, Role::update);
    std::vector<Value> own, averages;
    for (const VariablePtr& variable : variables) {
      if (variable->device != place.device || variable->type.dtype != place.dtype) continue;
      own.push_back(graph.variable(variable));
      averages.push_back(graph.variable(average_of(variable)));
    }
    RuleAttributes rule{.rule = UpdateRule::average, .beta1 = average_momentum_};
    averages = ops::rule_update(graph, rule, each, averages, own, {}, control);
    rule.every = overwrite_frequency_;
    if (rule.every > 0) ops::rule_update(graph, rule, each, own, averages, {}, control);
  }
}

VariablePtr Optimizer::average_of(const VariablePtr& variable) const {
  return averages_ ? slots_of(variable).slots.back() : nullptr;
}

std::vector<VariablePtr> Optimizer::state_of(std::span<const VariablePtr> variables) const {
  std::vector<VariablePtr> state;
  if (iterations_) state.push_back(iterations_);
  if (learning_rate_) state.push_back(learning_rate_);
  for (const VariablePtr& variable : variables) {
    const OwnedSlots& own = slots_of(variable);
    state.insert(state.end(), own.slots.begin(), own.slots.end());
  }
  return state;
}

void take_averages(Runtime& runtime, const Optimizer& optimizer, std::span<const VariablePtr> variables) {
  if (!optimizer.iterations() || !optimizer.config().flag("use_ema")) return;
  runtime.synchronize();
  VariableStore& store = runtime.variables();
  if (store.read(*optimizer.iterations()).values<std::int64_t>()[0] == 0) return;
  for (const VariablePtr& variable : variables) store.write(*variable, store.read(*optimizer.average_of(variable)));
}

namespace {

double rate_at(Runtime& runtime, const Schedule& schedule, std::int64_t step) {
  Graph graph;
  const GraphScope scope(graph, DeviceId{}, "learning_rate");
  const Value rate = schedule.call(graph, graph.constant(HostTensor::scalar(step)));
  const auto executor = make_executor(runtime, std::move(graph), {rate});
  executor->run({});
  return static_cast<double>(executor->read(0).values<float>()[0]);
}

}  // namespace

double learning_rate(Runtime& runtime, const Optimizer& optimizer) {
  if (optimizer.schedule()) {
    runtime.synchronize();
    const VariablePtr& counter = optimizer.iterations();
    return rate_at(runtime, *optimizer.schedule(),
                   counter ? runtime.variables().read(*counter).values<std::int64_t>()[0] : 0);
  }
  const VariablePtr& rate = optimizer.learning_rate();
  if (!rate) return optimizer.config().number("learning_rate");
  return static_cast<double>(runtime.variables().read(*rate).values<float>()[0]);
}

void set_learning_rate(Runtime& runtime, const Optimizer& optimizer, double rate) {
  const auto refuse = [&](std::string_view reason) {
    throw Error(fmt::format("optimizer {}: its learning rate cannot be set: {}", optimizer.name(), reason));
  };
  if (!(rate >= 0) || !std::isfinite(rate)) refuse(fmt::format("at least 0 is expected, got {}", rate));
  if (!optimizer.learning_rate())
    refuse(optimizer.schedule() ? "it follows a schedule" : "no variables have been trained yet");
  runtime.synchronize();
  runtime.variables().write(*optimizer.learning_rate(), HostTensor::scalar(static_cast<float>(rate)));
}

}  // namespace gpubench
