#include "core/ops/state.h"

#include <fmt/format.h>
#include <memory>

#include "core/ops/check.h"

namespace gpubench {
namespace {

double checked_steps(std::string_view op, double steps) {
  if (steps > 0) return steps;
  ops::refuse(op, fmt::format("decay_steps must be above 0, got {}", steps));
}

}  // namespace

std::vector<TensorType> StateOp::infer(std::span<const TensorType> inputs) const {
  ops::expect_count(name(), inputs, 2);
  ops::expect_type(name(), "the value", inputs[1], inputs[0]);
  return {inputs[0]};
}

std::string MovingAverage::attributes() const {
  return fmt::format("momentum={}", momentum);
}

std::vector<TensorType> MovingAverage::infer(std::span<const TensorType> inputs) const {
  std::vector<TensorType> result = StateOp::infer(inputs);
  ops::expect_floating(name(), inputs[0]);
  return result;
}

double MovingAverage::flops(std::span<const TensorType>, std::span<const TensorType> outputs) const {
  return 3.0 * static_cast<double>(outputs[0].elements());
}

std::vector<TensorType> AccumulateMean::infer(std::span<const TensorType> inputs) const {
  ops::expect_count(name(), inputs, 2);
  ops::expect_type(name(), "the state", inputs[0], {{2}, Dtype::f32});
  ops::expect_type(name(), "the values", inputs[1], {inputs[1].shape, Dtype::f32});
  return {inputs[0]};
}

double AccumulateMean::flops(std::span<const TensorType> inputs, std::span<const TensorType>) const {
  return static_cast<double>(inputs[1].elements());
}

std::vector<TensorType> ScheduleOp::infer(std::span<const TensorType> inputs) const {
  ops::expect_count(name(), inputs, 1);
  ops::expect_type(name(), "the step", inputs[0], {{}, Dtype::i64});
  return {{{}, Dtype::f32}};
}

CosineDecay::CosineDecay(double start, double steps, double floor)
    : initial(start), decay_steps(checked_steps("cosine_decay", steps)), alpha(floor) {}

std::string CosineDecay::attributes() const {
  return fmt::format("initial={} decay_steps={} alpha={}", initial, decay_steps, alpha);
}

ExponentialDecay::ExponentialDecay(double start, double steps, double factor, bool in_steps)
    : initial(start), decay_steps(checked_steps("exponential_decay", steps)), rate(factor), staircase(in_steps) {}

std::string ExponentialDecay::attributes() const {
  return fmt::format("initial={} decay_steps={} rate={} staircase={}", initial, decay_steps, rate, staircase);
}

namespace ops {

Value assign(Graph& graph, Value variable, Value value) {
  return graph.apply(std::make_shared<const Assign>(), {variable, value});
}
Value assign_add(Graph& graph, Value variable, Value value) {
  return graph.apply(std::make_shared<const AssignAdd>(), {variable, value});
}
Value moving_average(Graph& graph, Value variable, Value value, double momentum) {
  return graph.apply(std::make_shared<const MovingAverage>(momentum), {variable, value});
}
Value accumulate_mean(Graph& graph, Value state, Value values) {
  return graph.apply(std::make_shared<const AccumulateMean>(), {state, values});
}

Value cosine_decay(Graph& graph, Value step, double initial, double decay_steps, double alpha) {
  return graph.apply(std::make_shared<const CosineDecay>(initial, decay_steps, alpha), {step});
}
Value exponential_decay(Graph& graph, Value step, double initial, double decay_steps, double rate, bool staircase) {
  return graph.apply(std::make_shared<const ExponentialDecay>(initial, decay_steps, rate, staircase), {step});
}

}  // namespace ops
}  // namespace gpubench
