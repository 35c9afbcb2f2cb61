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
  TensorType output_type(TensorTypes inputs) const override;
  std::vector<VariablePtr> trainable_variables() const override;
  void set_trainable(bool trainable) override;
  std::vector<LayerPtr> parts() const override { return body_->layers(); }

 private:
  void make_variables(VariableFactory& factory, TensorTypes inputs) override;
  Value apply(const CallContext& context, Values inputs) const override;

  TensorType traced_type(TensorTypes inputs, std::int64_t rows) const;
  Value checked(const Graph& graph, Value result, std::int64_t rows) const;

  LayerFunctionPtr function_;
  std::unique_ptr<FunctionBody> body_;
  std::vector<TensorType> built_for_;  // only of a layer with weights
  /// A trace is slow, and the types of one layer are asked for at each of its calls.
  struct Known {
    std::vector<TensorType> inputs;
    TensorType output;
  };
  mutable std::vector<Known> known_;
  mutable Channels channels_ = Channels::unknown;
  mutable bool running_ = false;
};

bool contains(const std::vector<VariablePtr>& variables, const VariablePtr& one) {
  return std::ranges::find(variables, one) != variables.end();
}

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

Value FunctionLayer::checked(const Graph& graph, Value result, std::int64_t rows) const {
  const TensorType& type = graph.type(result);
  if (!type.shape.empty() && type.shape[0] == rows) return result;
  fail(
      fmt::format("its result must keep the batch as the first dimension, here {} rows, and is {}; axes and shapes "
                  "count the batch as dimension 0",
                  rows, to_string(type)));
}

TensorType FunctionLayer::traced_type(TensorTypes inputs, std::int64_t rows) const {
  Graph graph;
  graph.set_device(device());
  const std::vector<Value> values = inputs_of(graph, inputs, rows);
  const CallContext context{.graph = graph};
  Value result;
  if (built()) {
    result = body_->call(context, values);
  } else {
    const AddWeight without_memory = [&](const std::string& name, const Shape& shape, const Initializer&, bool) {
      return std::make_shared<const Variable>(
          Variable{.name = name, .type = {shape, policy().variable}, .device = device(), .owner = owner()});
    };
    result = function_->body(*this)->trial(without_memory, inputs, context, values);
  }
  TensorType type = graph.type(checked(graph, result, rows));
  channels_ = by_element(graph, type.shape) ? Channels::kept : Channels::unknown;
  type.shape.erase(type.shape.begin());
  return type;
}

TensorType FunctionLayer::output_type(TensorTypes inputs) const {
  if (inputs.empty()) fail("takes at least one input");
  const auto same = [&](const std::vector<TensorType>& types) { return std::ranges::equal(types, inputs); };
  if (built() && !built_for_.empty() && !same(built_for_)) {
    fail(fmt::format("its weights were built for {} per example, got {}", text_of(built_for_), text_of(inputs)));
  }
  const auto found = std::ranges::find_if(known_, same, &Known::inputs);
  if (found != known_.end()) return found->output;
  const Running running(running_, *this);
  // Two sizes of the batch show what depends on it. They are unlikely sizes of anything else.
  constexpr std::int64_t rows = 13, other_rows = 17;
  const TensorType type = traced_type(inputs, rows);
  if (const TensorType other = traced_type(inputs, other_rows); other != type) {
    fail(fmt::format("its result for one example depends on the batch: {} in a batch of {}, {} in a batch of {}",
                     to_string(type), rows, to_string(other), other_rows));
  }
  known_.push_back({{inputs.begin(), inputs.end()}, type});
  return type;
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
  body_->call({.graph = graph}, inputs_of(graph, inputs, 1));
  for (const LayerPtr& part : body_->layers()) adopt_variables(*part);
  if (!trainable()) set_trainable(false);
}

std::vector<VariablePtr> FunctionLayer::trainable_variables() const {
  std::vector<VariablePtr> trained = Layer::trainable_variables();
  for (const LayerPtr& part : body_->layers()) {
    const std::vector<VariablePtr> kept = part->trainable_variables();
    std::erase_if(trained, [&](const VariablePtr& variable) {
      return contains(part->variables(), variable) && !contains(kept, variable);
    });
  }
  return trained;
}

void FunctionLayer::set_trainable(bool trainable) {
  Layer::set_trainable(trainable);
  for (const LayerPtr& part : body_->layers()) part->set_trainable(trainable);
}

Value FunctionLayer::apply(const CallContext& context, Values inputs) const {
  const Running running(running_, *this);
  const std::int64_t rows = context.graph.type(inputs[0]).shape[0];
  const Value result = body_->call(context, inputs);
  return checked(context.graph, result, rows);
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
