// Loss scaling prevents small gradients of 16-bit models from vanishing, as Keras' LossScaleOptimizer: the loss is
// multiplied by a scale before differentiation, gradients are divided by it, and a step with overflowing gradients
// changes no weight. All state is on the device, so that a planned graph never changes.
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
  /// Throws Error naming an invalid option.
  explicit LossScale(const Config& config);

  /// Creates the variables on `device`; does nothing if they exist.
  void build(VariableFactory& factory, const DeviceId& device);

  /// The loss to differentiate, of unchanged type.
  Value scaled(Graph& graph, Value loss) const;
  /// float32 gradients divided by the scale; none for missing gradients.
  std::vector<Value> unscaled(Graph& graph, Values gradients) const;
  /// Updates the variables with gradients of the scaled loss, and the scale. If a gradient is infinite or NaN, the step
  /// is skipped and the scale halved; after enough good steps it is doubled. A fixed scale never changes, but skips
  /// steps too.
  void apply_scaled(Graph& graph, const Optimizer& optimizer, Values gradients,
                    std::span<const VariablePtr> variables) const;
  /// The same with gradients from unscaled().
  void apply_unscaled(Graph& graph, const Optimizer& optimizer, Values gradients,
                      std::span<const VariablePtr> variables) const;

  /// float32 scalar; null before build().
  const VariablePtr& scale() const { return scale_; }
  double initial_scale() const { return initial_scale_; }
  /// int64 scalar: number of skipped steps. Null before build().
  const VariablePtr& skipped_steps() const { return skipped_steps_; }
  /// All variables of the loss scale, in a fixed order.
  std::vector<VariablePtr> variables() const { return {scale_, good_steps_, skipped_steps_}; }

 private:
  ops::Unscaled divide(Graph& graph, Value scale, Values gradients) const;
  void apply(Graph& graph, Value scale, const Optimizer& optimizer, Values gradients,
             std::span<const VariablePtr> variables) const;

  double initial_scale_;
  std::int64_t growth_steps_;
  bool dynamic_;
  OwnerPtr owner_ = make_owner("loss_scale");
  VariablePtr scale_, good_steps_, skipped_steps_;
};
using LossScalePtr = std::shared_ptr<LossScale>;

}  // namespace gpubench
