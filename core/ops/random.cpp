#include "core/ops/random.h"

#include <fmt/format.h>
#include <memory>

#include "core/ops/check.h"

namespace gpubench {
namespace {

double checked_rate(double rate) {
  if (rate >= 0 && rate < 1) return rate;
  ops::refuse("dropout", fmt::format("the rate must be at least 0 and below 1, got {}", rate));
}

std::int64_t checked_first(std::int64_t first) {
  if (first >= 0) return first;
  ops::refuse("dropout", fmt::format("the first element is number {}; they count from 0", first));
}

std::vector<TensorType> infer_random(std::string_view op, TensorTypes inputs, const Shape& shape) {
  ops::expect_count(op, inputs, 1);
  const Shape& steps = inputs[0].shape;
  ops::expect_step(op, inputs[0], steps);
  TensorType result{shape, Dtype::f32};
  result.shape.insert(result.shape.begin(), steps.begin(), steps.end());
  return {std::move(result)};
}

}  // namespace

std::optional<BlockForm> RandomOp::block_form(std::span<const BlockInput> inputs, std::int64_t) const {
  if (inputs.back().element.rank() != 0) return std::nullopt;
  return BlockForm{};
}

DropoutMask::DropoutMask(double probability, std::uint64_t of, std::int64_t from)
    : rate(checked_rate(probability)), seed(of), first(checked_first(from)) {}

std::string DropoutMask::attributes() const {
  return fmt::format("rate={} seed={}{}", rate, seed, first == 0 ? "" : fmt::format(" first={}", first));
}

std::vector<TensorType> DropoutMask::infer(TensorTypes inputs) const {
  ops::expect_count(name(), inputs, 2);
  ops::expect_floating(name(), inputs[0]);
  ops::expect_step(name(), inputs[1], inputs[0].shape);
  return {inputs[0]};
}

std::vector<Value> DropoutMask::gradient(Graph& graph, Values inputs, Values, Values output_gradients) const {
  const auto op = std::make_shared<const DropoutGradient>(rate, seed, first);
  return {graph.apply(op, {output_gradients[0], inputs[1]}), Value{}};
}

std::string RandomUniform::attributes() const {
  return fmt::format("shape={} low={} high={} seed={}", to_string(shape), low, high, seed);
}

std::vector<TensorType> RandomUniform::infer(TensorTypes inputs) const {
  return infer_random(name(), inputs, shape);
}

std::string RandomNormal::attributes() const {
  return fmt::format("shape={} mean={} stddev={} seed={}", to_string(shape), mean, stddev, seed);
}

std::vector<TensorType> RandomNormal::infer(TensorTypes inputs) const {
  return infer_random(name(), inputs, shape);
}

namespace ops {

Value dropout(Graph& graph, Value x, Value step, double rate, std::uint64_t seed, std::int64_t first) {
  return graph.apply(std::make_shared<const Dropout>(rate, seed, first), {x, step});
}
Value random_uniform(Graph& graph, Value step, Shape shape, double low, double high, std::uint64_t seed) {
  return graph.apply(std::make_shared<const RandomUniform>(std::move(shape), low, high, seed), {step});
}
Value random_normal(Graph& graph, Value step, Shape shape, double mean, double stddev, std::uint64_t seed) {
  return graph.apply(std::make_shared<const RandomNormal>(std::move(shape), mean, stddev, seed), {step});
}

}  // namespace ops
}  // namespace gpubench
