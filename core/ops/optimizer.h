// Optimizer updates: one op, and one kernel, for all variables of a model. Formulas as in Keras 3; weight decay is
// decoupled (variable -= learning_rate * weight_decay * variable) in all of them.
#pragma once
#include "core/graph/graph.h"
#include "core/graph/op.h"

namespace gpubench {

/// Inputs: scalars (learning rate float32[], optionally step int64[], optionally found infinity bool[]), then groups of
/// `variables` tensors each: the variables, their gradients, and the slots. Variables and slots have one floating-point
/// type, gradients may have others; computed in float32. Outputs: variables, then slots, all in place.
class OptimizerUpdate : public Op {
 public:
  std::vector<TensorType> infer(std::span<const TensorType> inputs) const final;
  std::vector<Alias> aliases() const final;
  double flops(std::span<const TensorType> inputs, std::span<const TensorType> outputs) const final;

  int leading() const { return 1 + (counts_steps() ? 1 : 0) + (skippable ? 1 : 0); }
  virtual bool counts_steps() const { return false; }
  /// State tensors per variable.
  virtual int slots() const = 0;

  const int variables;
  const bool skippable;  ///< if the last scalar is true, variables and slots stay unchanged

 protected:
  OptimizerUpdate(int count, bool skips) : variables(count), skippable(skips) {}
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
  SgdUpdate(const SgdAttributes& of, int count, bool skips = false) : OptimizerUpdate(count, skips), settings(of) {}
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
  AdamUpdate(const AdamAttributes& of, int count, bool skips = false) : OptimizerUpdate(count, skips), settings(of) {}
  std::string_view name() const override { return "adam_update"; }
  std::string attributes() const override;
  bool counts_steps() const override { return true; }
  int slots() const override { return 2; }

  const AdamAttributes settings;

 protected:
  int flops_per_element() const override { return 12; }
};

struct RmspropAttributes {
  double rho = 0.9;
  double momentum = 0;
  double epsilon = 1e-7;
  bool centered = false;
};

/// learning rate, variables, gradients, mean squares, velocities (only with momentum), mean gradients (only centered).
class RmspropUpdate final : public OptimizerUpdate {
 public:
  RmspropUpdate(const RmspropAttributes& of, int count, bool skips = false)
      : OptimizerUpdate(count, skips), settings(of) {}
  std::string_view name() const override { return "rmsprop_update"; }
  std::string attributes() const override;
  int slots() const override { return 1 + (settings.momentum != 0 ? 1 : 0) + (settings.centered ? 1 : 0); }

  const RmspropAttributes settings;

 protected:
  int flops_per_element() const override { return 8; }
};

namespace ops {

using Values = std::span<const Value>;

/// All return the updated variables, then the updated slots. `velocities` is empty without momentum. If the bool[]
/// `found_infinity` is given and true, nothing is updated.
std::vector<Value> sgd_update(Graph& graph, const SgdAttributes& attributes, Value learning_rate, Values variables,
                              Values gradients, Values velocities, Value found_infinity = {});
std::vector<Value> adam_update(Graph& graph, const AdamAttributes& attributes, Value learning_rate, Value step,
                               Values variables, Values gradients, Values m, Values v, Value found_infinity = {});
std::vector<Value> rmsprop_update(Graph& graph, const RmspropAttributes& attributes, Value learning_rate,
                                  Values variables, Values gradients, Values mean_squares, Values velocities,
                                  Values mean_gradients, Value found_infinity = {});

}  // namespace ops
}  // namespace gpubench
