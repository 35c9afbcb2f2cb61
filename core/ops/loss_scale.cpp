#include "core/ops/loss_scale.h"

#include <fmt/format.h>
#include <memory>

#include "core/ops/check.h"

namespace gpubench {
namespace {

const TensorType scale_type{{}, Dtype::f32}, flag_type{{}, Dtype::boolean};

}  // namespace

std::string Unscale::attributes() const {
  return fmt::format("gradients={}", gradients);
}

std::vector<TensorType> Unscale::infer(TensorTypes inputs) const {
  if (gradients == 0) ops::refuse(name(), "there is no gradient to unscale");
  ops::expect_count(name(), inputs, 1 + static_cast<std::size_t>(gradients));
  ops::expect_type(name(), "the loss scale", inputs[0], scale_type);
  std::vector<TensorType> outputs;
  for (const TensorType& gradient : inputs.subspan(1)) {
    ops::expect_floating(name(), gradient);
    outputs.push_back({gradient.shape, Dtype::f32});
  }
  outputs.push_back(flag_type);
  return outputs;
}

std::vector<Alias> Unscale::aliases() const {
  std::vector<Alias> result;
  for (int i = 0; i < gradients; ++i) result.push_back({i, 1 + i, Alias::Kind::may_overwrite});
  return result;
}

LossScaleUpdate::LossScaleUpdate(double multiplier, std::int64_t interval)
    : factor(multiplier), growth_interval(interval) {
  if (factor > 1 && growth_interval > 0) return;
  ops::refuse(name(), fmt::format("the factor must be above 1 and the growth interval at least 1 step, got {} and {}",
                                  factor, growth_interval));
}

std::string LossScaleUpdate::attributes() const {
  return fmt::format("factor={} growth_interval={}", factor, growth_interval);
}

std::vector<TensorType> LossScaleUpdate::infer(TensorTypes inputs) const {
  ops::expect_count(name(), inputs, 3);
  ops::expect_type(name(), "the loss scale", inputs[0], scale_type);
  ops::expect_type(name(), "the count of good steps", inputs[1], {{}, Dtype::i64});
  ops::expect_type(name(), "the flag", inputs[2], flag_type);
  return {inputs[0], inputs[1]};
}

namespace ops {

Unscaled unscale(Graph& graph, Value loss_scale, Values gradients) {
  std::vector<Value> inputs{loss_scale};
  inputs.insert(inputs.end(), gradients.begin(), gradients.end());
  const auto count = static_cast<std::int32_t>(gradients.size());
  const Value first = graph.apply(std::make_shared<const Unscale>(count), inputs);
  Unscaled result;
  for (std::int32_t i = 0; i < count; ++i) result.gradients.push_back({first.node, i});
  result.found_infinity = {first.node, count};
  return result;
}

void loss_scale_update(Graph& graph, Value loss_scale, Value good_steps, Value found_infinity, double factor,
                       std::int64_t growth_interval) {
  graph.apply(std::make_shared<const LossScaleUpdate>(factor, growth_interval),
              {loss_scale, good_steps, found_infinity});
}

}  // namespace ops
}  // namespace gpubench
