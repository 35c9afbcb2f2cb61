// The optimizers, with Keras' names and defaults, and the list of them: adding one is a class and a row.
#include <algorithm>
#include <cctype>
#include <fmt/format.h>

#include "core/base/error.h"
#include "core/ops/optimizer.h"
#include "core/train/optimizer.h"

namespace gpubench {
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
  std::string names;
  for (const OptimizerKind& kind : optimizer_kinds()) {
    if (kind.name == lower) return kind.make(Config(kind.name, kind.fields, options), std::move(schedule));
    names += (names.empty() ? "" : ", ") + kind.name;
  }
  throw Error(fmt::format("unknown optimizer '{}' (known: {})", name, names));
}

}  // namespace gpubench
