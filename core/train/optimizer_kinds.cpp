// The optimizers, with Keras' names and defaults, and the list of them: adding one is a class and a row.
#include <algorithm>
#include <array>
#include <cctype>
#include <limits>
#include <memory>

#include "core/base/error.h"
#include "core/base/known_names.h"
#include "core/ops/state.h"
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
    keeps_largest_ = config().flag("amsgrad");
  }

 protected:
  std::vector<std::string> slot_names() const override {
    if (keeps_largest_) return {"m", "v", "largest_v"};
    return {"m", "v"};
  }
  void update(Graph& graph, const Scalars& scalars, Values variables, Values gradients,
              const Slots& slots) const override {
    AdamAttributes attributes = attributes_;
    if (!scalars.decays) attributes.weight_decay = 0;
    if (keeps_largest_) {
      const RuleAttributes rule{.rule = UpdateRule::amsgrad,
                                .beta1 = attributes.beta1,
                                .beta2 = attributes.beta2,
                                .epsilon = attributes.epsilon,
                                .weight_decay = attributes.weight_decay};
      const std::array of_step{scalars.learning_rate, scalars.step};
      ops::rule_update(graph, rule, of_step, variables, gradients, slots, scalars.control);
      return;
    }
    ops::adam_update(graph, attributes, scalars.learning_rate, scalars.step, variables, gradients, slots[0], slots[1],
                     scalars.control);
  }

 private:
  AdamAttributes attributes_;
  bool keeps_largest_;
};

/// Adadelta, Adagrad, Adamax and Nadam.
class RuleOptimizer final : public Optimizer {
 public:
  RuleOptimizer(Config given, SchedulePtr schedule) : Optimizer(std::move(given), std::move(schedule)) {
    const auto row = std::ranges::find(table(), std::string_view(name()), &Row::name);
    names_ = row->slots;
    attributes_.rule = row->rule;
    for (const auto& [option, value] : config().entries()) {
      if (option == "beta_1" || option == "rho") attributes_.beta1 = config().number_within(option, 0, 1);
      if (option == "beta_2") attributes_.beta2 = config().number_within(option, 0, 1);
      if (option == "initial_accumulator_value")
        start_ = config().number_within(option, 0, std::numeric_limits<double>::infinity());
    }
    attributes_.epsilon = config().number_within("epsilon", 0, 1);
    attributes_.weight_decay = config().number_within("weight_decay", 0, 1);
  }

 protected:
  std::vector<std::string> slot_names() const override { return names_; }
  double slot_start() const override { return start_; }
  void update(Graph& graph, const Scalars& scalars, Values variables, Values gradients,
              const Slots& slots) const override {
    RuleAttributes attributes = attributes_;
    if (!scalars.decays) attributes.weight_decay = 0;
    std::vector<Value> of_step{scalars.learning_rate, scalars.step};
    if (attributes.rule == UpdateRule::nadam) {
      const math::NadamMomentum momentum{attributes.beta1};
      of_step.push_back(graph.apply(std::make_shared<const ScheduleOp<math::NadamMomentum>>(momentum), {scalars.step}));
    }
    ops::rule_update(graph, attributes, of_step, variables, gradients, slots, scalars.control);
  }

 private:
  struct Row {
    std::string_view name;
    UpdateRule rule;
    std::vector<std::string> slots;
  };
  static const std::vector<Row>& table() {
    static const std::vector<Row> all = {{"adadelta", UpdateRule::adadelta, {"mean_square", "mean_change"}},
                                         {"adagrad", UpdateRule::adagrad, {"accumulator"}},
                                         {"adamax", UpdateRule::adamax, {"m", "u"}},
                                         {"nadam", UpdateRule::nadam, {"m", "v"}}};
    return all;
  }

  RuleAttributes attributes_;
  std::vector<std::string> names_;  // of the slots
  double start_ = 0;                // of the slots' elements
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
    attributes_.weight_decay = config().number_within("weight_decay", 0, 1);
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
    RmspropAttributes attributes = attributes_;
    if (!scalars.decays) attributes.weight_decay = 0;
    ops::rmsprop_update(graph, attributes, scalars.learning_rate, variables, gradients, slots[0],
                        momentum ? slots[1] : none, attributes_.centered ? slots.back() : none, scalars.control);
  }

 private:
  RmspropAttributes attributes_;
};

template <class T>
OptimizerPtr construct(Config config, SchedulePtr schedule) {
  return std::make_shared<T>(std::move(config), std::move(schedule));
}

/// `own` fields, then those of all optimizers: in Keras' order, in which scripts may give them without names.
std::vector<ConfigField> with_common(std::vector<ConfigField> own) {
  for (const char* const name : {"clipnorm", "clipvalue", "global_clipnorm"}) own.push_back({name, GradientClip::none});
  const std::vector<ConfigField> ema{
      {"use_ema", false}, {"ema_momentum", 0.99}, {"ema_overwrite_frequency", std::int64_t{0}}};
  own.insert(own.end(), ema.begin(), ema.end());
  return own;
}

}  // namespace

const std::vector<OptimizerKind>& optimizer_kinds() {
  static const ConfigField amsgrad{"amsgrad", false}, rate{"learning_rate", 0.001}, epsilon{"epsilon", 1e-7},
      decay{"weight_decay", 0.0}, beta_1{"beta_1", 0.9}, beta_2{"beta_2", 0.999};
  static const std::vector<OptimizerKind> kinds = {
      {"adadelta", with_common({rate, {"rho", 0.95}, epsilon, decay}), &construct<RuleOptimizer>},
      {"adagrad", with_common({rate, {"initial_accumulator_value", 0.1}, epsilon, decay}), &construct<RuleOptimizer>},
      {"adam", with_common({rate, beta_1, beta_2, epsilon, amsgrad, decay}), &construct<Adam>},
      {"adamax", with_common({rate, beta_1, beta_2, epsilon, decay}), &construct<RuleOptimizer>},
      {"adamw", with_common({rate, {"weight_decay", 0.004}, beta_1, beta_2, epsilon, amsgrad}), &construct<Adam>},
      {"lion", with_common({rate, beta_1, {"beta_2", 0.99}, decay}), &construct<Lion>},
      {"nadam", with_common({rate, beta_1, beta_2, epsilon, decay}), &construct<RuleOptimizer>},
      {"rmsprop", with_common({rate, {"rho", 0.9}, {"momentum", 0.0}, epsilon, {"centered", false}, decay}),
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
