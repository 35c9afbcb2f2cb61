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

void Layer::set_trainable(bool trainable) {
  config_.set("trainable", trainable);
  for (const std::shared_ptr<Layer>& part : parts()) part->set_trainable(trainable);
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
  return casts_inputs() && is_floating(given) && is_floating(policy_.compute) ? policy_.compute : given;
}

std::vector<TensorType> Layer::computed(TensorTypes given) const {
  std::vector<TensorType> types(given.begin(), given.end());
  for (TensorType& type : types) type.dtype = computed(type.dtype);
  return types;
}

Layer::Parts Layer::parts_of(std::size_t count, const CallForm& form) const {
  if (!form.masks.empty() && !reads_masks()) {
    fail("takes no mask: its result does not depend on one");
  }
  const std::size_t others = form.masks.size() + form.states;
  const std::size_t inputs = count - std::min(count, others);
  for (const std::size_t input : form.masks) {
    if (input >= inputs) fail(fmt::format("a mask for input {} is given, and {} inputs", input + 1, inputs));
  }
  return {inputs, form.masks.size()};
}

std::vector<TensorType> Layer::infer(TensorTypes arguments, const CallForm& form) const {
  const auto [inputs, masks] = parts_of(arguments.size(), form);
  const std::vector<TensorType> types = computed(arguments);
  for (std::size_t i = 0; i < masks; ++i) {
    const TensorType &mask = types[inputs + i], &input = types[form.masks[i]];
    if (!is_floating(mask.dtype) && mask.dtype != Dtype::bytes && mask.rank() > 0) continue;
    fail(fmt::format("a mask is of bools or integers and has a place for each step, got {} for {}", to_string(mask),
                     to_string(input)));
  }
  const TensorTypes all(types);
  std::vector<TensorType> outputs = form.reverse ? std::vector{reverse_type(all.first(inputs))}
                                                 : output_types(all.first(inputs), all.subspan(inputs + masks));
  for (const TensorType& output : outputs) check_size(output, kind());
  return outputs;
}

std::vector<TensorType> Layer::output_types(TensorTypes inputs, TensorTypes states) const {
  if (!states.empty()) fail("takes no initial_state: recurrent layers and cells do");
  return {output_type(inputs)};
}

TensorType Layer::reverse_type(TensorTypes /*inputs*/) const {
  fail("takes no option 'reverse'; ReversibleEmbedding does");
}

std::vector<std::optional<TensorType>> Layer::infer_masks(TensorTypes arguments, const CallForm& form,
                                                          const std::vector<std::optional<TensorType>>& masks) const {
  Graph graph;
  graph.set_device(device_);
  constexpr std::int64_t rows = 2;
  const auto input = [&](TensorType type) {
    type.shape.insert(type.shape.begin(), rows);
    return graph.input(std::move(type), "x");
  };
  std::vector<Value> values, given;
  for (const TensorType& type : arguments) values.push_back(input(type));
  for (const auto& mask : masks) given.push_back(mask ? input(*mask) : Value{});
  std::vector<std::optional<TensorType>> types;
  for (const Value mask : call_for_masks({.graph = graph}, values, form, given)) {
    types.push_back(mask ? std::optional(without_batch(graph.type(mask))) : std::nullopt);
  }
  return types;
}

void Layer::build(VariableFactory& factory, TensorTypes arguments, const CallForm& form) {
  infer(arguments, form);
  if (built_) return;
  if (name().empty()) set_automatic_name(default_name());
  make_variables(factory, computed(arguments.first(parts_of(arguments.size(), form).inputs)));
  built_ = true;
}

LayerArguments Layer::given_by(const CallContext& context, std::vector<Value>& values, const CallForm& form,
                               const std::vector<Value>& masks) const {
  for (Value& value : values) value = ops::cast(context.graph, value, computed(context.graph.type(value).dtype));
  const auto [inputs, explicit_masks] = parts_of(values.size(), form);
  const Values all(values);
  LayerArguments given{.inputs = all.first(inputs),
                       .masks = masks,
                       .states = all.subspan(inputs + explicit_masks),
                       .reverse = form.reverse};
  given.masks.resize(inputs);
  for (std::size_t i = 0; i < explicit_masks; ++i) given.masks[form.masks[i]] = all[inputs + i];
  for (Value& mask : given.masks) {
    if (mask) mask = ops::cast(context.graph, mask, Dtype::boolean);
  }
  return given;
}

LayerOutputs Layer::call(const CallContext& context, Values arguments, const CallForm& form,
                         const std::vector<Value>& masks) const {
  std::vector<TensorType> types;
  for (const Value argument : arguments) {
    const TensorType& type = context.graph.type(argument);
    if (type.shape.empty()) fail(fmt::format("expects tensors with a batch dimension, got {}", to_string(type)));
    types.push_back(without_batch(type));
  }
  infer(types, form);
  const GraphScope scope(context.graph, device_, owner_);
  std::vector<Value> values(arguments.begin(), arguments.end());
  const LayerArguments given = given_by(context, values, form, masks);
  warn_of_masks(context, given);
  LayerOutputs outputs = apply_all(context, given);
  add_activity_losses(context, outputs.values);
  if (outputs.masks.empty()) outputs.masks = output_masks(context, given);
  outputs.masks.resize(outputs.values.size());
  return outputs;
}

void Layer::add_activity_losses(const CallContext& context, Values outputs) const {
  const std::string& regularizer = config_.text(activity_regularizer);
  if (context.losses == nullptr || regularizer.empty()) return;
  for (const Value y : outputs) {
    const TensorType type = context.graph.type(y);
    if (!is_floating(type.dtype)) continue;
    const auto rows = static_cast<double>(std::max<std::int64_t>(type.shape[0], 1));
    if (const Value sum = penalty_of(context.graph, y, parse_regularizer(regularizer)))
      context.losses->push_back(ops::mul(context.graph, sum, ops::scalar(context.graph, 1 / rows, Dtype::f32)));
  }
}

std::vector<Value> Layer::call_for_masks(const CallContext& context, Values arguments, const CallForm& form,
                                         const std::vector<Value>& masks) const {
  const GraphScope scope(context.graph, device_, owner_);
  std::vector<Value> values(arguments.begin(), arguments.end());
  return output_masks(context, given_by(context, values, form, masks));
}

LayerOutputs Layer::apply_all(const CallContext& context, const LayerArguments& given) const {
  return {{apply(context, given.inputs)}, {}};
}

std::vector<Value> Layer::output_masks(const CallContext& /*context*/, const LayerArguments& given) const {
  if (mask_rule() != MaskRule::passes) return {};
  return {given.mask(0)};
}

void Layer::warn_of_masks(const CallContext& context, const LayerArguments& given) const {
  const bool masked = std::ranges::any_of(given.masks, [](Value mask) { return static_cast<bool>(mask); });
  if (mask_rule() != MaskRule::drops || !masked || warned_ || context.warn == nullptr) return;
  warned_ = true;
  (*context.warn)(
      fmt::format("{}: drops the mask of its input, so that layers and losses behind it count masked steps "
                  "too",
                  title()));
}

Value Layer::indices(Graph& graph, Value given) {
  const Dtype dtype = graph.type(given).dtype;
  return is_floating(dtype) || dtype == Dtype::boolean ? ops::cast(graph, given, Dtype::i32) : given;
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
  const auto holds = [](const std::vector<VariablePtr>& all, const VariablePtr& one) {
    return std::ranges::find(all, one) != all.end();
  };
  for (const std::shared_ptr<Layer>& part : parts()) {
    const std::vector<VariablePtr> kept = part->trainable_variables();
    std::erase_if(trained, [&](const VariablePtr& variable) {
      return holds(part->variables(), variable) && !holds(kept, variable);
    });
  }
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
