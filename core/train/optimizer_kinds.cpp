// The optimizers, with Keras' names and defaults, and the list of them: adding one is a class and a row.
#include <algorithm>
#include <cctype>

#include "core/base/error.h"
#include "core/base/known_names.h"
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
  void update(Graph& graph, const Scalars& scalars, Values variables, Values gradients,
              const Slots& slots) const override {
    SgdAttributes attributes = attributes_;
    if (!scalars.decays) attributes.weight_decay = 0;
    ops::sgd_update(graph, attributes, scalars.learning_rate, variables, gradients, slots.empty() ? Values() : slots[0],
                    scalars.control);
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
  void update(Graph& graph, const Scalars& scalars, Values variables, Values gradients,
              const Slots& slots) const override {
    AdamAttributes attributes = attributes_;
    if (!scalars.decays) attributes.weight_decay = 0;
    ops::adam_update(graph, attributes, scalars.learning_rate, scalars.step, variables, gradients, slots[0], slots[1],
                     scalars.control);
  }

 private:
  AdamAttributes attributes_;
};

class Lion final : public Optimizer {
 public:
  Lion(Config given, SchedulePtr schedule) : Optimizer(std::move(given), std::move(schedule)) {
    attributes_.beta1 = config().number_within("beta_1", 0, 1);
    attributes_.beta2 = config().number_within("beta_2", 0, 1);
    attributes_.weight_decay = config().number_within("weight_decay", 0, 1);
  }

 protected:
  std::vector<std::string> slot_names() const override { return {"momentum"}; }
  void update(Graph& graph, const Scalars& scalars, Values variables, Values gradients,
              const Slots& slots) const override {
    LionAttributes attributes = attributes_;
    if (!scalars.decays) attributes.weight_decay = 0;
    ops::lion_update(graph, attributes, scalars.learning_rate, variables, gradients, slots[0], scalars.control);
  }

 private:
  LionAttributes attributes_;
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
  void update(Graph& graph, const Scalars& scalars, Values variables, Values gradients,
              const Slots& slots) const override {
    const bool momentum = attributes_.momentum != 0;
    const Values none;
    ops::rmsprop_update(graph, attributes_, scalars.learning_rate, variables, gradients, slots[0],
                        momentum ? slots[1] : none, attributes_.centered ? slots.back() : none, scalars.control);
  }

 private:
  RmspropAttributes attributes_;
};

template <class T>
OptimizerPtr construct(Config config, SchedulePtr schedule) {
  return std::make_shared<T>(std::move(config), std::move(schedule));
}

/// `own` fields, then those of all optimizers.
std::vector<ConfigField> with_common(std::vector<ConfigField> own) {
  for (const char* const name : {"clipnorm", "clipvalue", "global_clipnorm"}) own.push_back({name, GradientClip::none});
  return own;
}

std::vector<ConfigField> adam_fields(double weight_decay) {
  return with_common({{"learning_rate", 0.001},
                      {"beta_1", 0.9},
                      {"beta_2", 0.999},
                      {"epsilon", 1e-7},
                      {"weight_decay", weight_decay}});
}

}  // namespace

const std::vector<OptimizerKind>& optimizer_kinds() {
  static const std::vector<OptimizerKind> kinds = {
      {"adam", adam_fields(0), &construct<Adam>},
      {"adamw", adam_fields(0.004), &construct<Adam>},
      {"lion", with_common({{"learning_rate", 0.001}, {"beta_1", 0.9}, {"beta_2", 0.99}, {"weight_decay", 0.0}}),
       &construct<Lion>},
      {"rmsprop",
       with_common({{"learning_rate", 0.001}, {"rho", 0.9}, {"momentum", 0.0}, {"epsilon", 1e-7}, {"centered", false}}),
       &construct<Rmsprop>},
      {"sgd", with_common({{"learning_rate", 0.01}, {"momentum", 0.0}, {"nesterov", false}, {"weight_decay", 0.0}}),
       &construct<Sgd>},
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
  throw_unknown_name("unknown optimizer", name, names_of(optimizer_kinds(), &OptimizerKind::name), "", "optimizer");
}

}  // namespace gpubench
