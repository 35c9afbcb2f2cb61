// Keeps small gradients of 16-bit models from vanishing: the loss is multiplied by a scale before it is differentiated,
// the gradients are divided by it before they are used, and a step whose gradients overflowed changes no weight. All of
// it lies on the device, so that a planned graph never changes. As Keras' LossScaleOptimizer.
#pragma once
#include <memory>
#include <span>
#include <vector>

#include "core/ops/loss_scale.h"
#include "core/train/optimizer.h"

namespace gpubench {

class LossScale {
 public:
  /// initial_scale (2^15), dynamic_growth_steps (2000), dynamic (true).
  static std::vector<ConfigField> fields();
  /// Throws Error naming an option that makes no sense.
  explicit LossScale(const Config& config);

  /// Makes the variables on `device`; does nothing the second time.
  void build(VariableFactory& factory, const DeviceId& device);

  /// The loss to differentiate, of its own type.
  Value scaled(Graph& graph, Value loss) const;
  /// float32 gradients without the scale; none where there is none.
  std::vector<Value> unscaled(Graph& graph, std::span<const Value> gradients) const;
  /// Updates the variables by gradients of the scaled loss, and the scale: halved where one of them is infinite or not
  /// a number, in which case the step is skipped; doubled after enough good steps. A fixed scale stays, and skips too.
  void apply_scaled(Graph& graph, const Optimizer& optimizer, std::span<const Value> gradients,
                    std::span<const VariablePtr> variables) const;
  /// The same by gradients that unscaled() has given.
  void apply_unscaled(Graph& graph, const Optimizer& optimizer, std::span<const Value> gradients,
                      std::span<const VariablePtr> variables) const;

  /// float32 scalar; null before build().
  const VariablePtr& scale() const { return scale_; }
  double initial_scale() const { return initial_scale_; }
  /// int64 scalar: steps so far that were skipped. Null before build().
  const VariablePtr& skipped_steps() const { return skipped_steps_; }
  /// All of its variables, in a fixed order.
  std::vector<VariablePtr> variables() const { return {scale_, good_steps_, skipped_steps_}; }

 private:
  ops::Unscaled divide(Graph& graph, Value scale, std::span<const Value> gradients) const;
  void apply(Graph& graph, Value scale, const Optimizer& optimizer, std::span<const Value> gradients,
             std::span<const VariablePtr> variables) const;

  double initial_scale_;
  std::int64_t growth_steps_;
  bool dynamic_;
  OwnerPtr owner_ = make_owner("loss_scale");
  VariablePtr scale_, good_steps_, skipped_steps_;
};
using LossScalePtr = std::shared_ptr<LossScale>;

}  // namespace gpubench
