// Layers whose body is a function of a script: Lambda, custom layers with weights, and the operators and methods of
// symbols. The function is traced whenever the layer joins a graph, so that memory plan, gradients and passes see its
// ops as they see those of every layer.
#include <algorithm>
#include <fmt/format.h>

#include "core/base/error.h"
#include "core/graph/leaf_ops.h"
#include "core/nn/layer_function.h"
#include "core/nn/layer_kind.h"
#include "core/ops/cast.h"
#include "core/ops/elementwise.h"

namespace gpubench::nn {
namespace {

class FunctionLayer final : public Layer {
 public:
  FunctionLayer(Config config, DeviceId device);
  std::string default_name() const override { return function_->name(); }
  Channels channels() const override { return channels_; }
  bool draws() const override { return function_->draws(); }
  MaskRule mask_rule() const override { return function_->mask_rule(); }
  bool reads_masks() const override { return function_->reads_masks(); }
  Shape state_sizes() const override { return function_->state_sizes(); }
  TensorType output_type(TensorTypes inputs) const override { return output_types(inputs, {}).front(); }
  std::vector<LayerPtr> parts() const override { return body_->layers(); }

 private:
  void make_variables(VariableFactory& factory, TensorTypes inputs) override;
  std::vector<TensorType> output_types(TensorTypes inputs, TensorTypes states) const override;
  Value apply(const CallContext& context, Values inputs) const override {
    return apply_all(context, {.inputs = inputs}).values.front();
  }
  LayerOutputs apply_all(const CallContext& context, const LayerArguments& given) const override;
  std::vector<Value> output_masks(const CallContext& context, const LayerArguments& given) const override;

  std::vector<TensorType> traced_types(TensorTypes inputs, TensorTypes states, std::int64_t rows) const;
  void check(const Graph& graph, Values results, std::int64_t rows) const;
  void check_states(TensorTypes inputs, TensorTypes states) const;

  LayerFunctionPtr function_;
  std::unique_ptr<FunctionBody> body_;
  std::vector<TensorType> built_for_;  // only of a layer with weights
  /// A trace is slow, and the types of one layer are asked for at each of its calls.
  struct Known {
    std::vector<TensorType> inputs;
    std::size_t states;
    std::vector<TensorType> outputs;
  };
  mutable std::vector<Known> known_;
  mutable Channels channels_ = Channels::unknown;
  mutable bool running_ = false;
};

std::string text_of(TensorTypes types) {
  std::string text;
  for (const TensorType& type : types) text += (text.empty() ? "" : ", ") + to_string(type);
  return text;
}

/// The inputs of a trace in a batch of `rows`.
std::vector<Value> inputs_of(Graph& graph, TensorTypes examples, std::int64_t rows) {
  std::vector<Value> values;
  for (TensorType type : examples) {
    type.shape.insert(type.shape.begin(), rows);
    values.push_back(graph.input(std::move(type), "x"));
  }
  return values;
}

/// Whether each element of a result of this shape depends on the same element of the inputs only.
bool by_element(const Graph& graph, const Shape& shape) {
  return std::ranges::all_of(graph.nodes(), [&](const Node& node) {
    if (op_as<InputOp>(node) != nullptr) return node.outputs[0].shape == shape;
    if (op_as<ConstantOp>(node) != nullptr) return node.outputs[0].elements() == 1;
    return op_as<ElementwiseOp>(node) != nullptr || op_as<Cast>(node) != nullptr;
  });
}

/// Refuses a function that calls its own layer.
class Running {
 public:
  Running(bool& flag, const Layer& layer) : flag_(flag) {
    if (flag_) layer.fail("its function calls the layer itself; a model has no cycles");
    flag_ = true;
  }
  ~Running() { flag_ = false; }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

 private:
  bool& flag_;
};

FunctionLayer::FunctionLayer(Config given, DeviceId device)
    : Layer(std::move(given), std::move(device)),
      function_(config().function("function")),
      body_(function_->body(*this)) {}

void FunctionLayer::check(const Graph& graph, Values results, std::int64_t rows) const {
  for (const Value result : results) {
    const TensorType& type = graph.type(result);
    if (!type.shape.empty() && type.shape[0] == rows) continue;
    fail(
        fmt::format("its result must keep the batch as the first dimension, here {} rows, and is {}; axes and shapes "
                    "count the batch as dimension 0",
                    rows, to_string(type)));
  }
}

void FunctionLayer::check_states(TensorTypes inputs, TensorTypes states) const {
  const Shape sizes = state_sizes();
  if (sizes.empty() && !states.empty()) fail("takes no initial_state: a cell does, which has a state_size");
  if (sizes.size() != states.size()) {
    fail(fmt::format("is a cell with {} state{}, got {}", sizes.size(), sizes.size() == 1 ? "" : "s", states.size()));
  }
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (states[i].shape == Shape{sizes[i]} && is_floating(states[i].dtype)) continue;
    fail(fmt::format("state {} must be a floating-point [{}] per example, got {} beside {}", i + 1, sizes[i],
                     to_string(states[i]), inputs.empty() ? "nothing" : to_string(inputs[0])));
  }
}

std::vector<TensorType> FunctionLayer::traced_types(TensorTypes inputs, TensorTypes states, std::int64_t rows) const {
  Graph graph;
  graph.set_device(device());
  const std::vector<Value> values = inputs_of(graph, inputs, rows), given = inputs_of(graph, states, rows);
  const CallContext context{.graph = graph};
  const LayerArguments arguments{.inputs = values, .states = given};
  LayerOutputs results;
  if (built()) {
    results = body_->call_all(context, arguments);
  } else {
    const AddWeight without_memory = [&](const std::string& name, const Shape& shape, const Initializer&, bool) {
      return std::make_shared<const Variable>(
          Variable{.name = name, .type = {shape, policy().variable}, .device = device(), .owner = owner()});
    };
    results = function_->body(*this)->trial_all(without_memory, inputs, context, arguments);
  }
  check(graph, results.values, rows);
  const TensorType first = graph.type(results.values.front());
  channels_ = results.values.size() == 1 && by_element(graph, first.shape) ? Channels::kept : Channels::unknown;
  std::vector<TensorType> types;
  for (const Value result : results.values) {
    types.push_back(graph.type(result));
    types.back().shape.erase(types.back().shape.begin());
  }
  return types;
}

std::vector<TensorType> FunctionLayer::output_types(TensorTypes inputs, TensorTypes states) const {
  if (inputs.empty()) fail("takes at least one input");
  check_states(inputs, states);
  const auto same = [&](const std::vector<TensorType>& types) { return std::ranges::equal(types, inputs); };
  if (built() && !built_for_.empty() && !same(built_for_)) {
    fail(fmt::format("its weights were built for {} per example, got {}", text_of(built_for_), text_of(inputs)));
  }
  const auto found = std::ranges::find_if(
      known_, [&](const Known& known) { return known.states == states.size() && same(known.inputs); });
  if (found != known_.end()) return found->outputs;
  const Running running(running_, *this);
  // Two sizes of the batch show what depends on it. They are unlikely sizes of anything else.
  constexpr std::int64_t rows = 13, other_rows = 17;
  const std::vector<TensorType> types = traced_types(inputs, states, rows);
  if (const std::vector<TensorType> others = traced_types(inputs, states, other_rows); others != types) {
    fail(fmt::format("its result for one example depends on the batch: {} in a batch of {}, {} in a batch of {}",
                     text_of(types), rows, text_of(others), other_rows));
  }
  known_.push_back({{inputs.begin(), inputs.end()}, states.size(), types});
  return types;
}

void FunctionLayer::make_variables(VariableFactory& factory, TensorTypes inputs) {
  const AddWeight add = [&](const std::string& name, const Shape& shape, const Initializer& initializer, bool train) {
    return make_variable(factory, name, shape, initializer, train);
  };
  const Running running(running_, *this);
  body_->build(add, inputs);
  if (function_->has_weights()) built_for_.assign(inputs.begin(), inputs.end());
  if (body_->layers().empty()) return;
  // Layers inside get their variables at the first call.
  Graph graph;
  graph.set_device(device());
  const std::vector<Value> values = inputs_of(graph, inputs, 1);
  std::vector<TensorType> state_types;
  for (const std::int64_t size : state_sizes()) state_types.push_back({{size}, policy().compute});
  const std::vector<Value> states = inputs_of(graph, state_types, 1);
  body_->call_all({.graph = graph}, {.inputs = values, .states = states});
  for (const LayerPtr& part : body_->layers()) adopt_variables(*part);
  if (!trainable()) set_trainable(false);
}

LayerOutputs FunctionLayer::apply_all(const CallContext& context, const LayerArguments& given) const {
  const Running running(running_, *this);
  const std::int64_t rows = context.graph.type(given.inputs[0]).shape[0];
  LayerOutputs results = body_->call_all(context, given);
  check(context.graph, results.values, rows);
  const bool own = std::ranges::any_of(results.masks, [](Value mask) { return static_cast<bool>(mask); });
  if (!own) results.masks.clear();
  return results;
}

std::vector<Value> FunctionLayer::output_masks(const CallContext& context, const LayerArguments& given) const {
  if (mask_rule() == MaskRule::makes) return body_->masks(context, given);
  return Layer::output_masks(context, given);
}

LayerKind kind(const char* name) {
  return {name, {"function"}, {{"function", LayerFunctionPtr(), true}}, &construct_layer<FunctionLayer>};
}

}  // namespace

LayerKind custom() {
  return kind("custom");
}

LayerKind lambda() {
  return kind("Lambda");
}

}  // namespace gpubench::nn

namespace gpubench {

LayerOutputs FunctionBody::call_all(const CallContext& context, const LayerArguments& given) {
  return {{call(context, given.inputs)}, {}};
}

LayerOutputs FunctionBody::trial_all(const AddWeight& add_weight, TensorTypes types, const CallContext& context,
                                     const LayerArguments& given) {
  return {{trial(add_weight, types, context, given.inputs)}, {}};
}

std::vector<Value> FunctionBody::masks(const CallContext& /*context*/, const LayerArguments& /*given*/) {
  return {};
}

MaskRule LayerFunction::mask_rule() const {
  return MaskRule::drops;
}

}  // namespace gpubench
