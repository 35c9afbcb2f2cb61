// Optimizer updates: one op, and one kernel, for all variables of a model. Formulas as in Keras 3; weight decay is
// decoupled (variable -= learning_rate * weight_decay * variable) in all of them.
#pragma once
#include <limits>
#include <type_traits>

#include "core/graph/graph.h"
#include "core/graph/op.h"
#include "core/math/optimizer.h"

namespace gpubench {

/// Limits for gradients, applied while an update reads them. Only one of the two is finite.
struct GradientClip {
  static constexpr double none = std::numeric_limits<double>::infinity();

  double value = none;  ///< of an element's magnitude
  double norm = none;   ///< of a gradient's norm: a gradient with a larger one is scaled down
  bool global = false;  ///< `norm` is for the norm of all gradients together
};

/// Inputs: scalars (learning rate float32[], optionally step int64[], with a limit for norms the gradients' sums of
/// squares float32[variables] or, if global, float32[], optionally found infinity bool[]), then groups of `variables`
/// tensors each: the variables, their gradients, and the slots. Variables and slots have one floating-point type,
/// gradients may have others; computed in float32. Outputs: variables, then slots, all in place.
class OptimizerUpdate : public Op {
 public:
  std::vector<TensorType> infer(TensorTypes inputs) const final;
  std::vector<Alias> aliases() const final;
  double flops(TensorTypes inputs, TensorTypes outputs) const final;

  int leading() const { return squares_input() + (limits_norm() ? 1 : 0) + (skippable ? 1 : 0); }
  bool limits_norm() const { return clip.norm < GradientClip::none; }
  bool clips() const { return limits_norm() || clip.value < GradientClip::none; }
  /// Index of the sums of squares, if limits_norm().
  int squares_input() const { return 1 + (counts_steps() ? 1 : 0) + (multiplies_momentum() ? 1 : 0); }
  virtual bool counts_steps() const { return false; }
  /// Whether it reads the product of the momentums of all steps so far, float32[], behind the step.
  virtual bool multiplies_momentum() const { return false; }
  /// State tensors per variable.
  virtual int slots() const = 0;

  const int variables;
  const bool skippable;  ///< if the last scalar is true, variables and slots stay unchanged
  const GradientClip clip;

 protected:
  OptimizerUpdate(int count, bool skips, const GradientClip& limits)
      : variables(count), skippable(skips), clip(limits) {}
  /// The end of attributes(), after the settings.
  std::string common_attributes() const;
  virtual int flops_per_element() const = 0;
};

struct SgdAttributes {
  double momentum = 0;
  bool nesterov = false;
  double weight_decay = 0;
};

/// learning rate, variables, gradients, velocities (only with momentum).
class SgdUpdate final : public OptimizerUpdate {
 public:
  SgdUpdate(const SgdAttributes& of, int count, bool skips = false, const GradientClip& limits = {})
      : OptimizerUpdate(count, skips, limits), settings(of) {}
  std::string_view name() const override { return "sgd_update"; }
  std::string attributes() const override;
  int slots() const override { return settings.momentum != 0 ? 1 : 0; }

  const SgdAttributes settings;

 protected:
  int flops_per_element() const override { return settings.momentum != 0 ? 4 : 2; }
};

struct AdamAttributes {
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-7;
  double weight_decay = 0;
};

/// learning rate, step (1 at the first update), variables, gradients, m, v.
class AdamUpdate final : public OptimizerUpdate {
 public:
  AdamUpdate(const AdamAttributes& of, int count, bool skips = false, const GradientClip& limits = {})
      : OptimizerUpdate(count, skips, limits), settings(of) {}
  std::string_view name() const override { return "adam_update"; }
  std::string attributes() const override;
  bool counts_steps() const override { return true; }
  int slots() const override { return 2; }

  const AdamAttributes settings;

 protected:
  int flops_per_element() const override { return 12; }
};

struct LionAttributes {
  double beta1 = 0.9;
  double beta2 = 0.99;
  double weight_decay = 0;
};

/// learning rate, variables, gradients, momentums.
class LionUpdate final : public OptimizerUpdate {
 public:
  LionUpdate(const LionAttributes& of, int count, bool skips = false, const GradientClip& limits = {})
      : OptimizerUpdate(count, skips, limits), settings(of) {}
  std::string_view name() const override { return "lion_update"; }
  std::string attributes() const override;
  int slots() const override { return 1; }

  const LionAttributes settings;

 protected:
  int flops_per_element() const override { return 8; }
};

struct RmspropAttributes {
  double rho = 0.9;
  double momentum = 0;
  double epsilon = 1e-7;
  bool centered = false;
  double weight_decay = 0;
};

/// learning rate, variables, gradients, mean squares, velocities (only with momentum), mean gradients (only centered).
class RmspropUpdate final : public OptimizerUpdate {
 public:
  RmspropUpdate(const RmspropAttributes& of, int count, bool skips = false, const GradientClip& limits = {})
      : OptimizerUpdate(count, skips, limits), settings(of) {}
  std::string_view name() const override { return "rmsprop_update"; }
  std::string attributes() const override;
  int slots() const override { return 1 + (settings.momentum != 0 ? 1 : 0) + (settings.centered ? 1 : 0); }

  const RmspropAttributes settings;

 protected:
  int flops_per_element() const override { return 8; }
};

/// The rules of RuleUpdate, function objects of core/math/optimizer.h.
enum class UpdateRule : std::uint8_t { average, adagrad, adadelta, adamax, nadam, amsgrad };

struct RuleAttributes {
  UpdateRule rule = UpdateRule::average;
  double beta1 = 0.9;  ///< of adadelta its rho, of an average its momentum
  double beta2 = 0.999;
  double epsilon = 1e-7;
  double weight_decay = 0;
  std::int64_t every = 0;  ///< of an average: steps in which the gradient takes its place; 0: none
};

/// learning rate, step (1 at the first update), of nadam the product of momentums, variables, gradients, slots. Of an
/// average these are averages and what they are of.
class RuleUpdate final : public OptimizerUpdate {
 public:
  RuleUpdate(const RuleAttributes& of, int count, bool skips = false, const GradientClip& limits = {})
      : OptimizerUpdate(count, skips, limits), settings(of) {}
  std::string_view name() const override;
  std::string attributes() const override;
  bool counts_steps() const override { return true; }
  bool multiplies_momentum() const override { return settings.rule == UpdateRule::nadam; }
  int slots() const override;

  const RuleAttributes settings;

 protected:
  int flops_per_element() const override;
};

/// The settings as kernels read them.
math::RuleSettings settings_of(const RuleAttributes& attributes);

/// body(type) with a std::type_identity of the rule's function object, and its number of slots as a constant.
template <class Body>
auto with_rule(UpdateRule rule, const Body& body) {
  switch (rule) {
    case UpdateRule::adagrad:
      return body(std::type_identity<math::Adagrad>{}, std::integral_constant<int, 1>{});
    case UpdateRule::adadelta:
      return body(std::type_identity<math::Adadelta>{}, std::integral_constant<int, 2>{});
    case UpdateRule::adamax:
      return body(std::type_identity<math::Adamax>{}, std::integral_constant<int, 2>{});
    case UpdateRule::nadam:
      return body(std::type_identity<math::Nadam>{}, std::integral_constant<int, 2>{});
    case UpdateRule::amsgrad:
      return body(std::type_identity<math::Amsgrad>{}, std::integral_constant<int, 3>{});
    case UpdateRule::average:
      break;
  }
  return body(std::type_identity<math::Average>{}, std::integral_constant<int, 0>{});
}

/// `tensors` floating-point tensors -> the sum of squares of each, float32[tensors], or of all, float32[].
class SumsOfSquares final : public Op {
 public:
  SumsOfSquares(int count, bool together) : tensors(count), of_all(together) {}
  std::string_view name() const override { return "sums_of_squares"; }
  std::string attributes() const override;
  std::vector<TensorType> infer(TensorTypes inputs) const override;
  double flops(TensorTypes inputs, TensorTypes outputs) const override;

  const int tensors;
  const bool of_all;
};

namespace ops {

/// How an update takes its gradients.
struct UpdateControl {
  Value found_infinity{};  ///< bool[]: if given and true, nothing is updated
  GradientClip clip{};
  Value squares{};  ///< with a limit for norms
};

/// All return the updated variables, then the updated slots. `velocities` is empty without momentum.
std::vector<Value> sgd_update(Graph& graph, const SgdAttributes& attributes, Value learning_rate, Values variables,
                              Values gradients, Values velocities, const UpdateControl& control = {});
std::vector<Value> adam_update(Graph& graph, const AdamAttributes& attributes, Value learning_rate, Value step,
                               Values variables, Values gradients, Values m, Values v,
                               const UpdateControl& control = {});
std::vector<Value> lion_update(Graph& graph, const LionAttributes& attributes, Value learning_rate, Values variables,
                               Values gradients, Values momentums, const UpdateControl& control = {});
std::vector<Value> rmsprop_update(Graph& graph, const RmspropAttributes& attributes, Value learning_rate,
                                  Values variables, Values gradients, Values mean_squares, Values velocities,
                                  Values mean_gradients, const UpdateControl& control = {});

/// `scalars`: learning rate, step, and for nadam the product of momentums. `slots` by slot, then by variable.
std::vector<Value> rule_update(Graph& graph, const RuleAttributes& attributes, std::span<const Value> scalars,
                               Values variables, Values gradients, std::span<const std::vector<Value>> slots,
                               const UpdateControl& control = {});

Value sums_of_squares(Graph& graph, Values tensors, bool of_all);

}  // namespace ops
}  // namespace gpubench
