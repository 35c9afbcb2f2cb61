#include "core/ops/schedule.h"

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

Value cosine_decay(Graph& graph, Value step, double initial, double decay_steps, double alpha) {
  return graph.apply(std::make_shared<const CosineDecay>(initial, decay_steps, alpha), {step});
}
Value exponential_decay(Graph& graph, Value step, double initial, double decay_steps, double rate, bool staircase) {
  return graph.apply(std::make_shared<const ExponentialDecay>(initial, decay_steps, rate, staircase), {step});
}

}  // namespace ops
}  // namespace gpubench
