// Updates of variables: the output is the variable's memory, so a node has an effect even if nothing reads its output.
// Also learning rates as functions of the step (int64[] -> float32[]), computed on the device.
#pragma once
#include "core/graph/graph.h"
#include "core/graph/op.h"
#include "core/math/schedule.h"

namespace gpubench {

/// variable, value -> variable, in place; both of one type unless the op says otherwise.
class StateOp : public Op {
 public:
  std::vector<TensorType> infer(TensorTypes inputs) const override;
  std::vector<Alias> aliases() const final { return {{0, 0, Alias::Kind::in_place}}; }
};

class Assign final : public StateOp {
 public:
  std::string_view name() const override { return "assign"; }
  double flops(TensorTypes, TensorTypes) const override { return 0; }
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
  std::vector<TensorType> infer(TensorTypes inputs) const override;
  double flops(TensorTypes inputs, TensorTypes outputs) const override;

  const double momentum;
};

/// state float32[2], values float32 of any shape: state += (sum, count). A metric's mean is state[0] / state[1].
class AccumulateMean final : public StateOp {
 public:
  std::string_view name() const override { return "accumulate_mean"; }
  std::vector<TensorType> infer(TensorTypes inputs) const override;
  double flops(TensorTypes inputs, TensorTypes outputs) const override;
};

/// step -> learning rate; F of core/math/schedule.h.
template <class F>
class ScheduleOp final : public Op {
 public:
  explicit ScheduleOp(const F& f) : function(f) {}
  std::string_view name() const override { return F::name; }
  std::string attributes() const override;
  std::vector<TensorType> infer(TensorTypes inputs) const override;

  const F function;
};

namespace ops {

Value assign(Graph& graph, Value variable, Value value);
Value assign_add(Graph& graph, Value variable, Value value);
/// Adds 1 to an int64 scalar and gives its new value, which stays when the variable changes.
Value count_call(Graph& graph, const VariablePtr& counter);
Value moving_average(Graph& graph, Value variable, Value value, double momentum);
Value accumulate_mean(Graph& graph, Value state, Value values);

}  // namespace ops
}  // namespace gpubench
