#include "core/graph/graph.h"

#include <array>
#include <utility>

#include "core/graph/leaf_ops.h"

namespace gpubench {
namespace {

constexpr std::array<std::string_view, 4> role_names{"forward", "gradient", "recomputed", "update"};

}  // namespace

std::string_view to_string(Role role) {
  return role_names[static_cast<std::size_t>(role)];
}

Value Graph::add(Node node) {
  nodes_.push_back(std::move(node));
  return {static_cast<std::int32_t>(nodes_.size()) - 1, 0};
}

Value Graph::input(TensorType type, std::string label) {
  auto op = std::make_shared<const InputOp>(static_cast<int>(inputs_.size()), type);
  const Value value =
      add({{origin_.device, std::move(label), origin_.owner, origin_.role}, std::move(op), {}, {std::move(type)}});
  inputs_.push_back(value);
  return value;
}

Value Graph::variable(const VariablePtr& variable) {
  for (std::size_t i = 0; i < variables_.size(); ++i) {
    if (variables_[i] == variable) return variable_values_[i];
  }
  const Value value = add({{variable->device, variable->name, variable->owner, Role::forward},
                           std::make_shared<const VariableOp>(variable),
                           {},
                           {variable->type}});
  variables_.push_back(variable);
  variable_values_.push_back(value);
  return value;
}

Value Graph::constant(HostTensor value) {
  TensorType type = value.type();
  return add({{origin_.device, "constant", nullptr, origin_.role},
              std::make_shared<const ConstantOp>(std::move(value)),
              {},
              {std::move(type)}});
}

Value Graph::constant(float value) {
  return constant(HostTensor::scalar(value));
}

Value Graph::apply(OpPtr op, Values inputs) {
  std::vector<TensorType> types;
  types.reserve(inputs.size());
  for (const Value input : inputs) types.push_back(type(input));
  std::vector<TensorType> outputs = checked_outputs(*op, types);
  Origin origin = origin_;
  if (origin.label.empty()) origin.label = op->name();
  return add({std::move(origin), std::move(op), {inputs.begin(), inputs.end()}, std::move(outputs)});
}

Value Graph::adopt(Node node) {
  if (const auto* variable = op_as<VariableOp>(node)) return this->variable(variable->variable());
  const bool is_input = op_as<InputOp>(node) != nullptr;
  const Value value = add(std::move(node));
  if (is_input) inputs_.push_back(value);
  return value;
}

Origin Graph::set_origin(Origin origin) {
  return std::exchange(origin_, std::move(origin));
}

DeviceId Graph::set_device(DeviceId device) {
  return std::exchange(origin_.device, std::move(device));
}

}  // namespace gpubench
