#include "core/train/optimizer.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <fmt/format.h>
#include <limits>

#include "core/base/error.h"
#include "core/base/known_names.h"
#include "core/ops/cast.h"
#include "core/ops/elementwise.h"
#include "core/ops/optimizer.h"
#include "core/ops/state.h"

namespace gpubench {

Optimizer::Optimizer(Config config, SchedulePtr schedule)
    : config_(std::move(config)), schedule_(std::move(schedule)), owner_(make_owner(name())) {
  config_.number_within("learning_rate", 0, std::numeric_limits<double>::infinity());
}

void Optimizer::build(VariableFactory& factory, std::span<const VariablePtr> variables) {
  if (variables.empty()) throw Error(fmt::format("optimizer {}: there are no trainable variables", name()));
  std::erase_if(slots_, [](const OwnedSlots& slots) { return slots.of.expired(); });
  const DeviceId& device = variables[0]->device;
  if (!iterations_) {
    iterations_ = factory.create(name() + "/iterations", HostTensor::scalar<std::int64_t>(0), device, false, owner_);
    if (!schedule_) {
      const auto rate = static_cast<float>(config_.number("learning_rate"));
      learning_rate_ = factory.create(name() + "/learning_rate", HostTensor::scalar(rate), device, false, owner_);
    }
  }
  for (const VariablePtr& variable : variables) {
    const bool known =
        std::any_of(slots_.begin(), slots_.end(), [&](const OwnedSlots& slots) { return slots.of.lock() == variable; });
    if (known) continue;
    OwnedSlots slots{variable, {}};
    for (const std::string& slot : slot_names()) {
      slots.slots.push_back(factory.create(fmt::format("{}/{}/{}", name(), variable->name, slot),
                                           HostTensor::zeros(variable->type), variable->device, false,
                                           variable->owner));
    }
    slots_.push_back(std::move(slots));
  }
}

const Optimizer::OwnedSlots& Optimizer::slots_of(const VariablePtr& variable) const {
  for (const OwnedSlots& slots : slots_) {
    if (slots.of.lock() == variable) return slots;
  }
  throw Error(fmt::format("optimizer {}: was not built for the variable {}", name(), variable->name));
}

void Optimizer::apply_gradients(Graph& graph, std::span<const Value> gradients, std::span<const VariablePtr> variables,
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
  const Scalars scalars{rate, ops::assign_add(graph, before, count), found_infinity};
  for (const Place& place : places) update_place(graph, place, scalars, gradients, variables);
}

void Optimizer::update_place(Graph& graph, const Place& place, const Scalars& scalars, std::span<const Value> gradients,
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
  update(graph, scalars, updated, by, slots);
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

double learning_rate(Runtime& runtime, const Optimizer& optimizer) {
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

// The optimizers, with Keras' names and defaults, and the list of them: adding one is a class and a row.
namespace {

class Sgd final : public Optimizer {
 public:
  Sgd(Config given, SchedulePtr schedule) : Optimizer(std::move(given), std::move(schedule)) {
    attributes_.momentum = config().number_within("momentum", 0, 1);
    attributes_.nesterov = config().flag("nesterov");
    if (attributes_.nesterov && attributes_.momentum == 0)
      throw Error("sgd: nesterov needs a momentum above 0, such as momentum = 0.9");
    attributes_.weight_decay = config().number_within("weight_decay", 0, 1);
  }

 protected:
  std::vector<std::string> slot_names() const override {
    if (attributes_.momentum == 0) return {};
    return {"momentum"};
  }
  void update(Graph& graph, const Scalars& scalars, std::span<const Value> variables, std::span<const Value> gradients,
              const Slots& slots) const override {
    ops::sgd_update(graph, attributes_, scalars.learning_rate, variables, gradients,
                    slots.empty() ? std::span<const Value>() : slots[0], scalars.found_infinity);
  }

 private:
  SgdAttributes attributes_;
};

class Adam final : public Optimizer {
 public:
  Adam(Config given, SchedulePtr schedule) : Optimizer(std::move(given), std::move(schedule)) {
    attributes_.beta1 = config().number_within("beta_1", 0, 1);
    attributes_.beta2 = config().number_within("beta_2", 0, 1);
    attributes_.epsilon = config().number_within("epsilon", 0, 1);
    attributes_.weight_decay = config().number_within("weight_decay", 0, 1);
  }

 protected:
  std::vector<std::string> slot_names() const override { return {"m", "v"}; }
  void update(Graph& graph, const Scalars& scalars, std::span<const Value> variables, std::span<const Value> gradients,
              const Slots& slots) const override {
    ops::adam_update(graph, attributes_, scalars.learning_rate, scalars.step, variables, gradients, slots[0], slots[1],
                     scalars.found_infinity);
  }

 private:
  AdamAttributes attributes_;
};

class Rmsprop final : public Optimizer {
 public:
  Rmsprop(Config given, SchedulePtr schedule) : Optimizer(std::move(given), std::move(schedule)) {
    attributes_.rho = config().number_within("rho", 0, 1);
    attributes_.momentum = config().number_within("momentum", 0, 1);
    attributes_.epsilon = config().number_within("epsilon", 0, 1);
    attributes_.centered = config().flag("centered");
  }

 protected:
  std::vector<std::string> slot_names() const override {
    std::vector<std::string> names = {"mean_square"};
    if (attributes_.momentum != 0) names.emplace_back("momentum");
    if (attributes_.centered) names.emplace_back("mean_gradient");
    return names;
  }
  void update(Graph& graph, const Scalars& scalars, std::span<const Value> variables, std::span<const Value> gradients,
              const Slots& slots) const override {
    const bool momentum = attributes_.momentum != 0;
    const std::span<const Value> none;
    ops::rmsprop_update(graph, attributes_, scalars.learning_rate, variables, gradients, slots[0],
                        momentum ? slots[1] : none, attributes_.centered ? slots.back() : none, scalars.found_infinity);
  }

 private:
  RmspropAttributes attributes_;
};

template <class T>
OptimizerPtr construct(Config config, SchedulePtr schedule) {
  return std::make_shared<T>(std::move(config), std::move(schedule));
}

std::vector<ConfigField> adam_fields(double weight_decay) {
  return {
      {"learning_rate", 0.001}, {"beta_1", 0.9}, {"beta_2", 0.999}, {"epsilon", 1e-7}, {"weight_decay", weight_decay}};
}

}  // namespace

const std::vector<OptimizerKind>& optimizer_kinds() {
  static const std::vector<OptimizerKind> kinds = {
      {"sgd",
       {{"learning_rate", 0.01}, {"momentum", 0.0}, {"nesterov", false}, {"weight_decay", 0.0}},
       &construct<Sgd>},
      {"adam", adam_fields(0), &construct<Adam>},
      {"adamw", adam_fields(0.004), &construct<Adam>},
      {"rmsprop",
       {{"learning_rate", 0.001}, {"rho", 0.9}, {"momentum", 0.0}, {"epsilon", 1e-7}, {"centered", false}},
       &construct<Rmsprop>},
  };
  return kinds;
}

OptimizerPtr make_optimizer(std::string_view name, const ConfigEntries& options, SchedulePtr schedule) {
  std::string lower(name);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
  for (const OptimizerKind& kind : optimizer_kinds()) {
    if (kind.name == lower) return kind.make(Config(kind.name, kind.fields, options), std::move(schedule));
  }
  throw_unknown_name("unknown optimizer", name, names_of(optimizer_kinds(), &OptimizerKind::name));
}

}  // namespace gpubench
