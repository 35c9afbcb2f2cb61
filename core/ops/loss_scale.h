// Dynamic loss scaling without a branch on the host: one op unscales gradients and sets a flag for overflow. If it is
// set, the optimizer's update changes nothing and the scale's update shrinks the scale. All state is on the device.
#pragma once
#include "core/graph/graph.h"
#include "core/graph/op.h"

namespace gpubench {

/// loss scale float32[], `gradients` floating tensors -> gradients divided by the scale, in float32, and found infinity
/// bool[]: whether any element is infinite or NaN.
class Unscale final : public Op {
 public:
  explicit Unscale(int count) : gradients(count) {}
  std::string_view name() const override { return "unscale"; }
  std::string attributes() const override;
  std::vector<TensorType> infer(TensorTypes inputs) const override;
  std::vector<Alias> aliases() const override;

  const int gradients;
};

/// scale float32[], good steps int64[] (since the last change), found infinity bool[] -> scale, good steps, in place.
class LossScaleUpdate final : public Op {
 public:
  static constexpr double initial_scale = 32768;

  /// Throws Error unless `multiplier` > 1 and `interval` > 0.
  LossScaleUpdate(double multiplier, std::int64_t interval);
  std::string_view name() const override { return "loss_scale_update"; }
  std::string attributes() const override;
  std::vector<TensorType> infer(TensorTypes inputs) const override;
  std::vector<Alias> aliases() const override { return {{0, 0, Alias::Kind::in_place}, {1, 1, Alias::Kind::in_place}}; }

  const double factor;
  const std::int64_t growth_interval;
};

namespace ops {

struct Unscaled {
  std::vector<Value> gradients;
  Value found_infinity;
};
Unscaled unscale(Graph& graph, Value loss_scale, Values gradients);

void loss_scale_update(Graph& graph, Value loss_scale, Value good_steps, Value found_infinity, double factor = 2,
                       std::int64_t growth_interval = 2000);

}  // namespace ops
}  // namespace gpubench
