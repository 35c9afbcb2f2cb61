#include "core/ops/optimizer.h"

#include <array>
#include <cmath>
#include <fmt/format.h>
#include <memory>

#include "core/ops/check.h"

namespace gpubench {

std::vector<TensorType> OptimizerUpdate::infer(TensorTypes inputs) const {
  const auto count = static_cast<std::size_t>(variables), first = static_cast<std::size_t>(leading());
  if (count == 0) ops::refuse(name(), "there is no variable to update");
  ops::expect_count(name(), inputs, first + count * static_cast<std::size_t>(2 + slots()));
  ops::expect_type(name(), "the learning rate", inputs[0], {{}, Dtype::f32});
  if (counts_steps()) ops::expect_type(name(), "the step", inputs[1], {{}, Dtype::i64});
  if (multiplies_momentum()) ops::expect_type(name(), "the product of momentums", inputs[2], {{}, Dtype::f32});
  if (limits_norm()) {
    ops::expect_type(name(), "the sums of squares", inputs[static_cast<std::size_t>(squares_input())],
                     {clip.global ? Shape{} : Shape{variables}, Dtype::f32});
  }
  if (skippable) ops::expect_type(name(), "the flag", inputs[first - 1], {{}, Dtype::boolean});

  const TensorTypes targets = inputs.subspan(first, count);
  for (std::size_t i = 0; i < inputs.size() - first; ++i) {
    TensorType target = targets[i % count];
    if (!is_floating(target.dtype) || target.dtype != targets[0].dtype) {
      ops::refuse(name(), fmt::format("variables are of one floating-point type, got {} and {}", to_string(targets[0]),
                                      to_string(target)));
    }
    const bool gradient = i / count == 1;
    if (gradient && is_floating(inputs[first + i].dtype)) target.dtype = inputs[first + i].dtype;
    ops::expect_type(name(), gradient ? "the gradient" : "the slot", inputs[first + i], target);
  }
  std::vector<TensorType> outputs;
  for (int group = 0; group <= slots(); ++group) outputs.insert(outputs.end(), targets.begin(), targets.end());
  return outputs;
}

std::vector<Alias> OptimizerUpdate::aliases() const {
  std::vector<Alias> result;
  for (int output = 0; output < variables * (1 + slots()); ++output) {
    const int skipped = output < variables ? 0 : variables;  // the gradients stand between variables and slots
    result.push_back({output, leading() + output + skipped, Alias::Kind::in_place});
  }
  return result;
}

double OptimizerUpdate::flops(TensorTypes, TensorTypes outputs) const {
  double elements = 0;
  for (const TensorType& type : outputs.first(static_cast<std::size_t>(variables))) {
    elements += static_cast<double>(type.elements());
  }
  return elements * flops_per_element();
}

std::string OptimizerUpdate::common_attributes() const {
  std::string text = fmt::format("variables={}{}", variables, skippable ? " skippable" : "");
  if (clip.value < GradientClip::none) text += fmt::format(" clip_value={}", clip.value);
  if (limits_norm()) text += fmt::format(" {}clip_norm={}", clip.global ? "global_" : "", clip.norm);
  return text;
}

std::string SgdUpdate::attributes() const {
  const SgdAttributes& a = settings;
  return fmt::format("momentum={} nesterov={} weight_decay={} {}", a.momentum, a.nesterov, a.weight_decay,
                     common_attributes());
}

std::string AdamUpdate::attributes() const {
  const AdamAttributes& a = settings;
  return fmt::format("beta1={} beta2={} epsilon={} weight_decay={} {}", a.beta1, a.beta2, a.epsilon, a.weight_decay,
                     common_attributes());
}

std::string LionUpdate::attributes() const {
  return fmt::format("beta1={} beta2={} weight_decay={} {}", settings.beta1, settings.beta2, settings.weight_decay,
                     common_attributes());
}

std::string RmspropUpdate::attributes() const {
  const RmspropAttributes& a = settings;
  return fmt::format("rho={} momentum={} epsilon={} centered={} weight_decay={} {}", a.rho, a.momentum, a.epsilon,
                     a.centered, a.weight_decay, common_attributes());
}

namespace {

/// By UpdateRule. A root or a division counts as one operation.
struct RuleRow {
  std::string_view name;
  int flops;
};
constexpr std::array rule_rows{RuleRow{"moving_average_update", 3}, RuleRow{"adagrad_update", 6},
                               RuleRow{"adadelta_update", 14},      RuleRow{"adamax_update", 9},
                               RuleRow{"nadam_update", 15},         RuleRow{"amsgrad_update", 13}};

const RuleRow& row_of(UpdateRule rule) {
  return rule_rows[static_cast<std::size_t>(rule)];
}

}  // namespace

std::string_view RuleUpdate::name() const {
  return row_of(settings.rule).name;
}

int RuleUpdate::flops_per_element() const {
  return row_of(settings.rule).flops;
}

int RuleUpdate::slots() const {
  return with_rule(settings.rule, [](auto, auto slots) { return slots(); });
}

std::string RuleUpdate::attributes() const {
  const RuleAttributes& a = settings;
  return fmt::format("beta1={} beta2={} epsilon={} weight_decay={} every={} {}", a.beta1, a.beta2, a.epsilon,
                     a.weight_decay, a.every, common_attributes());
}

math::RuleSettings settings_of(const RuleAttributes& a) {
  const auto narrow = [](double number) { return static_cast<float>(number); };
  return {narrow(a.beta1),   narrow(1 - a.beta1),    narrow(std::log(a.beta1)),
          narrow(a.beta2),   narrow(1 - a.beta2),    narrow(std::log(a.beta2)),
          narrow(a.epsilon), narrow(a.weight_decay), a.every};
}

std::string SumsOfSquares::attributes() const {
  return fmt::format("tensors={} of_all={}", tensors, of_all);
}

std::vector<TensorType> SumsOfSquares::infer(TensorTypes inputs) const {
  if (tensors == 0) ops::refuse(name(), "there is no tensor to sum over");
  ops::expect_count(name(), inputs, static_cast<std::size_t>(tensors));
  for (const TensorType& type : inputs) ops::expect_floating(name(), type);
  return {{of_all ? Shape{} : Shape{tensors}, Dtype::f32}};
}

double SumsOfSquares::flops(TensorTypes inputs, TensorTypes) const {
  double elements = 0;
  for (const TensorType& type : inputs) elements += static_cast<double>(type.elements());
  return 2 * elements;
}

namespace ops {
namespace {

template <class O, class Attributes>
std::vector<Value> apply_update(Graph& graph, const Attributes& attributes, const std::vector<Value>& leading,
                                const UpdateControl& control, const std::vector<Values>& groups) {
  const auto op = std::make_shared<const O>(attributes, static_cast<int>(groups.front().size()),
                                            static_cast<bool>(control.found_infinity), control.clip);
  std::vector<Value> inputs(leading);
  if (op->limits_norm()) inputs.push_back(control.squares);
  if (control.found_infinity) inputs.push_back(control.found_infinity);
  for (const Values group : groups) inputs.insert(inputs.end(), group.begin(), group.end());
  const Value first = graph.apply(op, inputs);
  std::vector<Value> outputs;
  for (int i = 0; i < op->variables * (1 + op->slots()); ++i) outputs.push_back({first.node, i});
  return outputs;
}

}  // namespace

std::vector<Value> sgd_update(Graph& graph, const SgdAttributes& attributes, Value learning_rate, Values variables,
                              Values gradients, Values velocities, const UpdateControl& control) {
  return apply_update<SgdUpdate>(graph, attributes, {learning_rate}, control, {variables, gradients, velocities});
}

std::vector<Value> adam_update(Graph& graph, const AdamAttributes& attributes, Value learning_rate, Value step,
                               Values variables, Values gradients, Values m, Values v, const UpdateControl& control) {
  return apply_update<AdamUpdate>(graph, attributes, {learning_rate, step}, control, {variables, gradients, m, v});
}

std::vector<Value> lion_update(Graph& graph, const LionAttributes& attributes, Value learning_rate, Values variables,
                               Values gradients, Values momentums, const UpdateControl& control) {
  return apply_update<LionUpdate>(graph, attributes, {learning_rate}, control, {variables, gradients, momentums});
}

std::vector<Value> rmsprop_update(Graph& graph, const RmspropAttributes& attributes, Value learning_rate,
                                  Values variables, Values gradients, Values mean_squares, Values velocities,
                                  Values mean_gradients, const UpdateControl& control) {
  return apply_update<RmspropUpdate>(graph, attributes, {learning_rate}, control,
                                     {variables, gradients, mean_squares, velocities, mean_gradients});
}

std::vector<Value> rule_update(Graph& graph, const RuleAttributes& attributes, std::span<const Value> scalars,
                               Values variables, Values gradients, std::span<const std::vector<Value>> slots,
                               const UpdateControl& control) {
  std::vector<Values> groups{variables, gradients};
  groups.insert(groups.end(), slots.begin(), slots.end());
  return apply_update<RuleUpdate>(graph, attributes, {scalars.begin(), scalars.end()}, control, groups);
}

Value sums_of_squares(Graph& graph, Values tensors, bool of_all) {
  return graph.apply(std::make_shared<const SumsOfSquares>(static_cast<int>(tensors.size()), of_all), tensors);
}

}  // namespace ops
}  // namespace gpubench
