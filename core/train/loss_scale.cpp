#include "core/train/loss_scale.h"

#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <map>

#include "core/base/error.h"
#include "core/ops/cast.h"
#include "core/ops/elementwise.h"
#include "core/ops/state.h"

namespace gpubench {
namespace {

constexpr double scale_factor = 2;  // Keras': a power of two changes no digit of a gradient

}  // namespace

std::vector<ConfigField> LossScale::fields() {
  return {{"initial_scale", LossScaleUpdate::initial_scale},
          {"dynamic_growth_steps", std::int64_t{2000}},
          {"dynamic", true}};
}

LossScale::LossScale(const Config& config)
    : initial_scale_(config.number("initial_scale")),
      growth_steps_(config.integer_from("dynamic_growth_steps", 1)),
      dynamic_(config.flag("dynamic")) {
  if (initial_scale_ >= 1 && initial_scale_ <= std::numeric_limits<float>::max()) return;
  throw Error(fmt::format("{}: initial_scale must be a number from 1, got {}", config.owner(), initial_scale_));
}

void LossScale::build(VariableFactory& factory, const DeviceId& device) {
  if (scale_) return;
  const auto make = [&](const std::string& name, const HostTensor& initial) {
    return factory.create(owner_->name + "/" + name, initial, device, false, owner_);
  };
  scale_ = make("scale", HostTensor::scalar(static_cast<float>(initial_scale_)));
  good_steps_ = make("good_steps", HostTensor::scalar<std::int64_t>(0));
  skipped_steps_ = make("skipped_steps", HostTensor::scalar<std::int64_t>(0));
}

Value LossScale::scaled(Graph& graph, Value loss) const {
  const GraphScope scope(graph, graph.node(loss).device, owner_);
  return ops::mul(graph, loss, ops::cast(graph, graph.variable(scale_), graph.type(loss).dtype));
}

/// Each device's gradients by one op.
ops::Unscaled LossScale::divide(Graph& graph, Value scale, Values gradients) const {
  std::map<DeviceId, std::vector<std::size_t>> by_device;
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    if (gradients[i]) by_device[graph.node(gradients[i]).device].push_back(i);
  }
  ops::Unscaled all{std::vector<Value>(gradients.size()), {}};
  for (const auto& [device, indices] : by_device) {
    const GraphScope scope(graph, device, owner_, Role::update);
    std::vector<Value> given;
    for (const std::size_t i : indices) given.push_back(gradients[i]);
    const ops::Unscaled own = ops::unscale(graph, scale, given);
    for (std::size_t k = 0; k < indices.size(); ++k) all.gradients[indices[k]] = own.gradients[k];
    const GraphScope joined(graph, scale_->device, owner_, Role::update);
    all.found_infinity =
        all.found_infinity ? ops::logical_or(graph, all.found_infinity, own.found_infinity) : own.found_infinity;
  }
  return all;
}

std::vector<Value> LossScale::unscaled(Graph& graph, Values gradients) const {
  return divide(graph, graph.variable(scale_), gradients).gradients;
}

void LossScale::apply_scaled(Graph& graph, const Optimizer& optimizer, Values gradients,
                             std::span<const VariablePtr> variables) const {
  apply(graph, graph.variable(scale_), optimizer, gradients, variables);
}

void LossScale::apply_unscaled(Graph& graph, const Optimizer& optimizer, Values gradients,
                               std::span<const VariablePtr> variables) const {
  apply(graph, graph.constant(1.0F), optimizer, gradients, variables);
}

void LossScale::apply(Graph& graph, Value scale, const Optimizer& optimizer, Values gradients,
                      std::span<const VariablePtr> variables) const {
  ops::Unscaled unscaled = divide(graph, scale, gradients);
  for (std::size_t i = 0; i < variables.size(); ++i) {
    if (Value& gradient = unscaled.gradients[i]) {
      const GraphScope scope(graph, graph.node(gradient).device, owner_, Role::update);
      gradient = ops::cast(graph, gradient, variables[i]->type.dtype);
    }
  }
  optimizer.apply_gradients(graph, unscaled.gradients, variables, unscaled.found_infinity);
  const GraphScope scope(graph, scale_->device, owner_, Role::update);
  const Value skipped = ops::cast(graph, unscaled.found_infinity, Dtype::i64);
  ops::assign_add(graph, graph.variable(skipped_steps_), skipped);
  if (!dynamic_) return;
  ops::loss_scale_update(graph, graph.variable(scale_), graph.variable(good_steps_), unscaled.found_infinity,
                         scale_factor, growth_steps_);
}

}  // namespace gpubench
