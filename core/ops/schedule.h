// Learning rates as functions of the step (int64[] -> float32[]), computed on the device. Formulas as in Keras.
#pragma once
#include "core/graph/graph.h"
#include "core/graph/op.h"

namespace gpubench {

class ScheduleOp : public Op {
 public:
  std::vector<TensorType> infer(std::span<const TensorType> inputs) const final;
};

/// initial * ((1 - alpha) * (1 + cos(pi * min(step, decay_steps) / decay_steps)) / 2 + alpha).
class CosineDecay final : public ScheduleOp {
 public:
  /// decay_steps > 0; throws Error otherwise.
  CosineDecay(double start, double steps, double floor);
  std::string_view name() const override { return "cosine_decay"; }
  std::string attributes() const override;

  const double initial, decay_steps, alpha;
};

/// initial * rate ^ (step / decay_steps); staircase rounds the exponent down.
class ExponentialDecay final : public ScheduleOp {
 public:
  /// decay_steps > 0; throws Error otherwise.
  ExponentialDecay(double start, double steps, double factor, bool in_steps);
  std::string_view name() const override { return "exponential_decay"; }
  std::string attributes() const override;

  const double initial, decay_steps, rate;
  const bool staircase;
};

namespace ops {

Value cosine_decay(Graph& graph, Value step, double initial, double decay_steps, double alpha = 0);
Value exponential_decay(Graph& graph, Value step, double initial, double decay_steps, double rate,
                        bool staircase = false);

}  // namespace ops
}  // namespace gpubench
