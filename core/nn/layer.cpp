#include "core/nn/layer.h"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>

#include "core/base/error.h"
#include "core/nn/regularizer.h"
#include "core/nn/weight_options.h"
#include "core/ops/broadcast.h"
#include "core/ops/cast.h"
#include "core/ops/elementwise.h"

namespace gpubench {
namespace {

constexpr std::string_view activity_regularizer = "activity_regularizer";

TensorType without_batch(const TensorType& type) {
  return {Shape(type.shape.begin() + 1, type.shape.end()), type.dtype};
}

}  // namespace

std::vector<ConfigField> Layer::common_fields() {
  return {{"name", std::string()},
          {"input_shape", Shape{}},
          {"trainable", true},
          {"dtype", std::string("float32")},
          {std::string(activity_regularizer), std::string()}};
}

Layer::Layer(Config config, DeviceId device)
    : config_(std::move(config)),
      owner_(std::make_shared<Owner>(Owner{config_.text("name")})),
      device_(std::move(device)),
      policy_(parse_dtype_policy(config_.text("dtype"))) {
  const auto add = [&](std::vector<Owner::WeightText>& list, std::string_view end) {
    for (const WeightOption& given : weight_options(config_, end)) {
      if (given.option != activity_regularizer)
        list.push_back({"", std::string(given.variable), std::string(given.text)});
    }
  };
  add(regularizers_, regularizer_end);
  add(owner_->constraints, constraint_end);
}

void Layer::take_weight_options(const Layer& inner, std::string_view prefix) {
  const auto add = [&](std::vector<Owner::WeightText>& list, const std::vector<Owner::WeightText>& more) {
    for (const Owner::WeightText& one : more)
      list.push_back({part_ + one.part, std::string(prefix) + one.variable, one.text});
  };
  add(regularizers_, inner.regularizers_);
  add(owner_->constraints, inner.owner_->constraints);
}

void Layer::set_automatic_name(std::string name) {
  set_name(std::move(name));
  automatic_name_ = true;
}

void Layer::join(const Layer& outer, const std::string& part) {
  part_ = outer.part_ + part + "/";
  for (Owner::WeightText& own : owner_->constraints) {
    own.part = part_ + own.part;
    outer.owner_->constraints.push_back(std::move(own));
  }
  owner_ = outer.owner_;
}

Dtype Layer::computed(Dtype given) const {
  return is_floating(given) && is_floating(policy_.compute) ? policy_.compute : given;
}

std::vector<TensorType> Layer::computed(TensorTypes given) const {
  std::vector<TensorType> types(given.begin(), given.end());
  for (TensorType& type : types) type.dtype = computed(type.dtype);
  return types;
}

TensorType Layer::infer(TensorTypes inputs) const {
  TensorType output = output_type(computed(inputs));
  check_size(output, kind());
  return output;
}

void Layer::build(VariableFactory& factory, TensorTypes inputs) {
  infer(inputs);
  if (built_) return;
  if (name().empty()) set_automatic_name(default_name());
  make_variables(factory, computed(inputs));
  built_ = true;
}

Value Layer::call(const CallContext& context, Values inputs) const {
  std::vector<TensorType> types;
  for (const Value input : inputs) {
    const TensorType& type = context.graph.type(input);
    if (type.shape.empty()) fail(fmt::format("expects tensors with a batch dimension, got {}", to_string(type)));
    types.push_back(without_batch(type));
  }
  infer(types);
  const GraphScope scope(context.graph, device_, owner_);
  std::vector<Value> arguments;
  for (const Value input : inputs) {
    arguments.push_back(ops::cast(context.graph, input, computed(context.graph.type(input).dtype)));
  }
  const Value y = apply(context, arguments);
  const std::string& regularizer = config_.text(activity_regularizer);
  if (context.losses == nullptr || regularizer.empty()) return y;
  const auto rows = static_cast<double>(std::max<std::int64_t>(context.graph.type(y).shape[0], 1));
  if (const Value sum = penalty_of(context.graph, y, parse_regularizer(regularizer)))
    context.losses->push_back(ops::mul(context.graph, sum, ops::scalar(context.graph, 1 / rows, Dtype::f32)));
  return y;
}

Value Layer::weight(const CallContext& context, const VariablePtr& variable) const {
  return ops::cast(context.graph, context.graph.variable(variable), policy_.compute);
}

Value Layer::parameter(Graph& graph, const VariablePtr& variable, std::int64_t channels, double constant) const {
  if (variable) return graph.variable(variable);
  const Initializer same{.kind = Initializer::Kind::constant, .first = constant, .second = 0, .seed = {}};
  return graph.constant(same.make({{channels}, policy_.variable}, 0));
}

VariablePtr Layer::make_variable(VariableFactory& factory, const std::string& name, Shape shape,
                                 const Initializer& initializer, bool trainable) {
  if (!is_floating(policy_.variable)) {
    fail(fmt::format("its variables are floating-point, got dtype '{}'", policy_.name));
  }
  const HostTensor initial =
      initializer.make({std::move(shape), policy_.variable}, initializer.seed.value_or(factory.next_seed()));
  return make_variable(factory, name, initial, trainable);
}

VariablePtr Layer::make_variable(VariableFactory& factory, const std::string& name, const HostTensor& initial,
                                 bool trainable) {
  VariablePtr variable = factory.create(this->name() + "/" + part_ + name, initial, device_, trainable, owner_);
  variables_.push_back(variable);
  variable_names_.push_back(part_ + name);
  return variable;
}

void Layer::adopt_variables(const Layer& part) {
  variables_.insert(variables_.end(), part.variables_.begin(), part.variables_.end());
  variable_names_.insert(variable_names_.end(), part.variable_names_.begin(), part.variable_names_.end());
}

std::vector<VariablePtr> Layer::trainable_variables() const {
  std::vector<VariablePtr> trained;
  if (!trainable()) return trained;
  std::ranges::copy_if(variables_, std::back_inserter(trained), &Variable::trainable);
  return trained;
}

std::string Layer::title() const {
  return fmt::format("layer '{}' ({})", name().empty() ? default_name() : name(), kind());
}

void Layer::fail(const std::string& message) const {
  throw Error(fmt::format("{}: {}", title(), message));
}

const TensorType& Layer::only_input(TensorTypes inputs, int rank, std::string_view form) const {
  if (inputs.size() != 1) fail(fmt::format("takes one input, got {}", inputs.size()));
  if (rank >= 0 && inputs[0].rank() != rank) {
    fail(fmt::format("expects {} per example, got {}", form, to_string(inputs[0])));
  }
  if (!is_floating(inputs[0].dtype)) fail(fmt::format("expects floating-point input, got {}", to_string(inputs[0])));
  return inputs[0];
}

}  // namespace gpubench
