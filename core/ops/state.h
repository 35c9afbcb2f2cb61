// Updates of variables: the output is the variable's memory, so a node has an effect even if nothing reads its output.
// Also learning rates as functions of the step (int64[] -> float32[]), computed on the device. Formulas as in Keras.
#pragma once
#include "core/graph/graph.h"
#include "core/graph/op.h"

namespace gpubench {

/// variable, value -> variable, in place; both of one type unless the op says otherwise.
class StateOp : public Op {
 public:
  std::vector<TensorType> infer(std::span<const TensorType> inputs) const override;
  std::vector<Alias> aliases() const final { return {{0, 0, Alias::Kind::in_place}}; }
};

class Assign final : public StateOp {
 public:
  std::string_view name() const override { return "assign"; }
  double flops(std::span<const TensorType>, std::span<const TensorType>) const override { return 0; }
};

/// Also for integer counters.
class AssignAdd final : public StateOp {
 public:
  std::string_view name() const override { return "assign_add"; }
};

/// variable = momentum * variable + (1 - momentum) * value, for the statistics of batch normalization.
class MovingAverage final : public StateOp {
 public:
  explicit MovingAverage(double weight) : momentum(weight) {}
  std::string_view name() const override { return "moving_average"; }
  std::string attributes() const override;
  std::vector<TensorType> infer(std::span<const TensorType> inputs) const override;
  double flops(std::span<const TensorType> inputs, std::span<const TensorType> outputs) const override;

  const double momentum;
};

/// state float32[2], values float32 of any shape: state += (sum, count). A metric's mean is state[0] / state[1].
class AccumulateMean final : public StateOp {
 public:
  std::string_view name() const override { return "accumulate_mean"; }
  std::vector<TensorType> infer(std::span<const TensorType> inputs) const override;
  double flops(std::span<const TensorType> inputs, std::span<const TensorType> outputs) const override;
};

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

Value assign(Graph& graph, Value variable, Value value);
Value assign_add(Graph& graph, Value variable, Value value);
Value moving_average(Graph& graph, Value variable, Value value, double momentum);
Value accumulate_mean(Graph& graph, Value state, Value values);

Value cosine_decay(Graph& graph, Value step, double initial, double decay_steps, double alpha = 0);
Value exponential_decay(Graph& graph, Value step, double initial, double decay_steps, double rate,
                        bool staircase = false);

}  // namespace ops
}  // namespace gpubench
