#include "core/ops/state.h"

#include <fmt/ranges.h>
#include <memory>

#include "core/graph/leaf_ops.h"
#include "core/ops/broadcast.h"
#include "core/ops/check.h"
#include "core/ops/elementwise.h"

namespace gpubench {

std::vector<TensorType> StateOp::infer(TensorTypes inputs) const {
  ops::expect_count(name(), inputs, 2);
  ops::expect_type(name(), "the value", inputs[1], inputs[0]);
  return {inputs[0]};
}

std::string MovingAverage::attributes() const {
  return fmt::format("momentum={}", momentum);
}

std::vector<TensorType> MovingAverage::infer(TensorTypes inputs) const {
  std::vector<TensorType> result = StateOp::infer(inputs);
  ops::expect_floating(name(), inputs[0]);
  return result;
}

double MovingAverage::flops(TensorTypes, TensorTypes outputs) const {
  return 3.0 * static_cast<double>(outputs[0].elements());
}

std::vector<TensorType> AccumulateMean::infer(TensorTypes inputs) const {
  ops::expect_count(name(), inputs, 2);
  ops::expect_type(name(), "the state", inputs[0], {{2}, Dtype::f32});
  ops::expect_type(name(), "the values", inputs[1], {inputs[1].shape, Dtype::f32});
  return {inputs[0]};
}

double AccumulateMean::flops(TensorTypes inputs, TensorTypes) const {
  return static_cast<double>(inputs[1].elements());
}

template <class F>
std::string ScheduleOp<F>::attributes() const {
  return fmt::format("{}", fmt::join(function.fields(), " "));
}

template <class F>
std::vector<TensorType> ScheduleOp<F>::infer(TensorTypes inputs) const {
  ops::expect_count(name(), inputs, 1);
  ops::expect_type(name(), "the step", inputs[0], {{}, Dtype::i64});
  return {{{}, Dtype::f32}};
}

template class ScheduleOp<math::CosineDecay>;
template class ScheduleOp<math::CosineDecayRestarts>;
template class ScheduleOp<math::ExponentialDecay>;
template class ScheduleOp<math::InverseTimeDecay>;
template class ScheduleOp<math::NadamMomentum>;
template class ScheduleOp<math::PiecewiseConstant>;
template class ScheduleOp<math::PolynomialDecay>;

namespace ops {

Value assign(Graph& graph, Value variable, Value value) {
  return graph.apply(std::make_shared<const Assign>(), {variable, value});
}
Value assign_add(Graph& graph, Value variable, Value value) {
  return graph.apply(std::make_shared<const AssignAdd>(), {variable, value});
}
Value count_call(Graph& graph, const VariablePtr& counter) {
  const GraphScope scope(graph, counter->device, "calls");
  const Value one = graph.constant(HostTensor::scalar<std::int64_t>(1));
  const Value counted = assign_add(graph, graph.variable(counter), one);
  // A copy, because a gradient computed later must use this call's number even if the variable has changed.
  return add(graph, counted, scalar(graph, 0, Dtype::i64));
}
Value moving_average(Graph& graph, Value variable, Value value, double momentum) {
  return graph.apply(std::make_shared<const MovingAverage>(momentum), {variable, value});
}
Value accumulate_mean(Graph& graph, Value state, Value values) {
  return graph.apply(std::make_shared<const AccumulateMean>(), {state, values});
}

}  // namespace ops
}  // namespace gpubench
