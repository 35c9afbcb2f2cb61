#include "core/nn/model.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <set>

#include "core/base/error.h"
#include "core/base/known_names.h"
#include "core/nn/layer_kind.h"
#include "core/ops/cast.h"
#include "core/ops/state.h"

namespace gpubench {
namespace {

LayerPtr make_input(const TensorType& type, const DeviceId& device) {
  return make_layer(
      "Input", {{"shape", type.shape}, {"dtype", std::string(to_string(type.dtype))}, {"name", std::string("input")}},
      device);
}

std::string shape_text(TensorTypes types) {
  std::string text;
  for (const TensorType& type : types) text += (text.empty() ? "" : ", ") + to_string(type.shape);
  return text;
}

}  // namespace

Symbol::Symbol(LayerPtr layer, std::vector<SymbolPtr> inputs, std::optional<bool> training)
    : layer_(std::move(layer)), inputs_(std::move(inputs)), training_(training) {
  std::vector<TensorType> types;
  for (const SymbolPtr& input : inputs_) types.push_back(input->type());
  type_ = layer_->infer(types);
}

Symbol::~Symbol() {
  std::vector<SymbolPtr> owned = std::move(inputs_);
  while (!owned.empty()) {
    const SymbolPtr symbol = std::move(owned.back());
    owned.pop_back();
    if (symbol.use_count() > 1) continue;
    for (SymbolPtr& input : symbol->inputs_) owned.push_back(std::move(input));
    symbol->inputs_.clear();
  }
}

SymbolPtr apply_layer(const LayerPtr& layer, std::vector<SymbolPtr> inputs, std::optional<bool> training) {
  return std::make_shared<const Symbol>(layer, std::move(inputs), training);
}

Model::Model(std::string name, const std::vector<SymbolPtr>& inputs, const std::vector<SymbolPtr>& outputs)
    : name_(std::move(name)) {
  if (inputs.empty() || outputs.empty()) {
    throw Error(fmt::format("model '{}': needs at least one input and one output, got {} and {}", name_, inputs.size(),
                            outputs.size()));
  }
  for (const SymbolPtr& input : inputs) {
    if (input->inputs().empty()) continue;
    throw Error(fmt::format("model '{}': its inputs must be Input layers, got the output of layer {}", name_,
                            input->layer()->kind()));
  }
  cut(inputs, outputs);
  name_layers();
  require_used(inputs);
}

void Model::require_used(const std::vector<SymbolPtr>& inputs) const {
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    const auto reads = [&](const Call& call) {
      return std::ranges::find(call.inputs, inputs_[i]) != call.inputs.end();
    };
    if (std::ranges::any_of(calls_, reads) || std::ranges::find(outputs_, inputs_[i]) != outputs_.end()) continue;
    throw Error(fmt::format("model '{}': no output depends on input {} ('{}', {}); leave it out, or give it to a layer",
                            name_, i + 1, inputs[i]->layer()->name(), to_string(inputs[i]->type())));
  }
}

Model::Model(std::string name, std::vector<LayerPtr> chain) : name_(std::move(name)), chain_(std::move(chain)) {
  if (chain_->empty()) return;
  for (std::size_t i = 1; i < chain_->size(); ++i) {
    if ((*chain_)[i]->declared_input() == nullptr) continue;
    throw Error(fmt::format("model '{}': Input must be the first layer, found as number {}", name_, i + 1));
  }
  name_layers();
  const LayerPtr& first = chain_->front();
  if (const TensorType* const input = first->declared_input()) {
    if (chain_->size() > 1) define_chain(*input);
  } else if (!first->input_shape().empty()) {
    define_chain({first->input_shape(), first->policy().variable});
  }
}

void Model::define_chain(const TensorType& input) {
  const bool has_input = chain_->front()->declared_input() != nullptr;
  const LayerPtr source = has_input ? chain_->front() : make_input(input, chain_->front()->device());
  const SymbolPtr start = apply_layer(source, {});
  SymbolPtr end = start;
  for (std::size_t i = has_input ? 1 : 0; i < chain_->size(); ++i) {
    const Layer& layer = *(*chain_)[i];
    if (!layer.input_shape().empty() && layer.input_shape() != end->type().shape) {
      throw Error(fmt::format("model '{}': layer {} ({}) has the input_shape {}, but is given {}", name_, i + 1,
                              layer.kind(), to_string(layer.input_shape()), to_string(end->type().shape)));
    }
    end = apply_layer((*chain_)[i], {end});
  }
  cut({start}, {end});
}

void Model::cut(const std::vector<SymbolPtr>& inputs, const std::vector<SymbolPtr>& outputs) {
  std::map<const Symbol*, std::size_t> index;
  const auto append = [&](const Symbol& symbol) {
    Call call{symbol.layer(), {}, symbol.type(), symbol.shared_from_this(), symbol.training()};
    for (const SymbolPtr& input : symbol.inputs()) call.inputs.push_back(index.at(input.get()));
    calls_.push_back(std::move(call));
    return index.emplace(&symbol, calls_.size() - 1).first->second;
  };
  for (const SymbolPtr& input : inputs) inputs_.push_back(append(*input));

  // Depth first without recursion, so that a deep chain cannot overflow the stack.
  std::vector<std::pair<const Symbol*, std::size_t>> path;
  for (const SymbolPtr& output : outputs) {
    if (!index.contains(output.get())) path.emplace_back(output.get(), 0);
    while (!path.empty()) {
      auto& [symbol, next] = path.back();
      if (next < symbol->inputs().size()) {
        const Symbol* input = symbol->inputs()[next++].get();
        if (!index.contains(input)) path.emplace_back(input, 0);
        continue;
      }
      if (symbol->inputs().empty()) {
        throw Error(fmt::format("model '{}': an output depends on an Input {} that is not among the model's inputs",
                                name_, to_string(symbol->type())));
      }
      append(*symbol);
      path.pop_back();
    }
    outputs_.push_back(index.at(output.get()));
  }
}

void Model::name_layers() const {
  std::set<const Layer*> seen;
  std::set<std::string> taken;
  std::vector<LayerPtr> unnamed;
  for (const LayerPtr& layer : layers()) {
    if (!seen.insert(layer.get()).second) continue;
    if (layer->name().empty() || layer->has_automatic_name()) {
      unnamed.push_back(layer);
    } else if (!taken.insert(layer->name()).second) {
      throw Error(fmt::format("model '{}': two layers are named '{}'", name_, layer->name()));
    }
  }
  for (const LayerPtr& layer : unnamed) {
    if (!layer->name().empty() && taken.insert(layer->name()).second) continue;
    std::string name = layer->default_name();
    for (int i = 1; !taken.insert(name).second; ++i) name = fmt::format("{}_{}", layer->default_name(), i);
    layer->set_automatic_name(name);
  }
}

void Model::require_layers() const {
  if (defined() || (!chain_->empty() && chain_->back()->declared_input() == nullptr)) return;
  throw Error(fmt::format("model '{}': it has no layers yet; add some by model:add(layer)", name_));
}

void Model::define(TensorTypes inputs) {
  if (!defined()) {
    require_layers();
    if (inputs.size() != 1) {
      throw Error(fmt::format("model '{}': Sequential takes one input, got {}", name_, inputs.size()));
    }
    // Images and other integers are cast on the way in.
    define_chain({inputs[0].shape, chain_->front()->policy().variable});
    return;
  }
  check_inputs(inputs);
}

void Model::check_inputs(TensorTypes inputs) const {
  const std::vector<TensorType> expected = input_types();
  const bool same = std::equal(expected.begin(), expected.end(), inputs.begin(), inputs.end(),
                               [](const TensorType& a, const TensorType& b) { return a.shape == b.shape; });
  if (!same) {
    throw Error(fmt::format("model '{}': expects {} input{} of shape {} per example, got {} of shape {}", name_,
                            expected.size(), expected.size() == 1 ? "" : "s", shape_text(expected), inputs.size(),
                            shape_text(inputs)));
  }
}

void Model::build(VariableFactory& factory) {
  if (built_) return;
  if (!defined()) {
    require_layers();
    throw Error(
        fmt::format("model '{}': the input's shape is not known yet; give the first layer input_shape, start "
                    "with Input, or pass data first",
                    name_));
  }
  for (const Call& call : calls_) {
    if (call.inputs.empty()) continue;
    std::vector<TensorType> types;
    for (const std::size_t input : call.inputs) types.push_back(calls_[input].type);
    call.layer->build(factory, types);
  }
  if (draws(false)) {
    counter_ = factory.create("calls", HostTensor::scalar<std::int64_t>(0), calls_.front().layer->device(), false,
                              std::make_shared<Owner>(Owner{name_}));
  }
  built_ = true;
}

std::vector<Value> Model::call(const CallContext& context, Values inputs) const {
  const std::vector<Value> values = call_each(context, inputs);
  std::vector<Value> results;
  for (const std::size_t output : outputs_) results.push_back(values[output]);
  return results;
}

std::vector<Value> Model::call_each(const CallContext& context, Values inputs) const {
  std::vector<TensorType> examples;
  for (const Value input : inputs) {
    const TensorType& type = context.graph.type(input);
    if (type.shape.empty()) {
      throw Error(fmt::format("model '{}': expects tensors with a batch dimension, got {}", name_, to_string(type)));
    }
    examples.push_back({Shape(type.shape.begin() + 1, type.shape.end()), type.dtype});
  }
  check_inputs(examples);
  std::vector<Value> values(calls_.size());
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    const Call& source = calls_[inputs_[i]];
    const GraphScope scope(context.graph, source.layer->device(), source.layer->owner());
    values[inputs_[i]] = ops::cast(context.graph, inputs[i], source.type.dtype);
  }
  const Value step = context.step || counter_ == nullptr ? context.step : ops::count_call(context.graph, counter_);
  for (std::size_t i = 0; i < calls_.size(); ++i) {
    if (values[i]) continue;
    std::vector<Value> arguments;
    for (const std::size_t input : calls_[i].inputs) arguments.push_back(values[input]);
    CallContext own = context;
    own.step = step;
    own.training = calls_[i].training.value_or(context.training);
    values[i] = calls_[i].layer->call(own, arguments);
  }
  return values;
}

bool Model::draws(bool training) const {
  return std::ranges::any_of(calls_,
                             [&](const Call& call) { return call.training.value_or(training) && call.layer->draws(); });
}

std::vector<SymbolPtr> Model::apply(const std::vector<SymbolPtr>& inputs, std::optional<bool> training) const {
  if (!defined() || inputs.size() != inputs_.size()) {
    throw Error(fmt::format("model '{}': takes {} inputs as a layer, got {}", name_, inputs_.size(), inputs.size()));
  }
  std::vector<SymbolPtr> symbols(calls_.size());
  for (std::size_t i = 0; i < inputs_.size(); ++i) symbols[inputs_[i]] = inputs[i];
  for (std::size_t i = 0; i < calls_.size(); ++i) {
    if (symbols[i]) continue;
    std::vector<SymbolPtr> arguments;
    for (const std::size_t input : calls_[i].inputs) arguments.push_back(symbols[input]);
    const std::optional<bool> own = calls_[i].training ? calls_[i].training : training;
    symbols[i] = apply_layer(calls_[i].layer, std::move(arguments), own);
  }
  std::vector<SymbolPtr> results;
  for (const std::size_t output : outputs_) results.push_back(symbols[output]);
  return results;
}

std::vector<TensorType> Model::input_types() const {
  std::vector<TensorType> types;
  for (const std::size_t input : inputs_) types.push_back(calls_[input].type);
  return types;
}

std::vector<TensorType> Model::output_types() const {
  std::vector<TensorType> types;
  for (const std::size_t output : outputs_) types.push_back(calls_[output].type);
  return types;
}

std::vector<std::string> Model::output_names() const {
  if (!defined() && chain_->empty()) return {};
  if (!defined()) return {chain_->back()->name()};
  std::vector<std::string> names;
  for (const std::size_t output : outputs_) {
    const std::string& layer = calls_[output].layer->name();
    std::string name = layer;
    for (int i = 1; std::ranges::find(names, name) != names.end(); ++i) name = fmt::format("{}_{}", layer, i);
    names.push_back(std::move(name));
  }
  return names;
}

std::vector<LayerPtr> Model::layers() const {
  if (!defined()) return *chain_;
  std::vector<LayerPtr> layers;
  for (const Call& call : calls_) {
    if (std::find(layers.begin(), layers.end(), call.layer) == layers.end()) layers.push_back(call.layer);
  }
  return layers;
}

LayerPtr Model::layer_named(std::string_view name) const {
  const std::vector<LayerPtr> all = layers();
  const auto found =
      std::ranges::find(all, name, [](const LayerPtr& layer) { return std::string_view(layer->name()); });
  if (found != all.end()) return *found;
  std::vector<std::string_view> names;
  for (const LayerPtr& layer : all) names.emplace_back(layer->name());
  throw_unknown_name(fmt::format("model '{}': there is no layer", name_), name, names);
}

std::vector<std::string> Model::saved_names() const {
  std::vector<std::string> names;
  for (const LayerPtr& layer : layers()) {
    for (std::size_t i = 0; i < layer->variables().size(); ++i) names.push_back(layer->saved_name(i));
  }
  return names;
}

std::vector<VariablePtr> Model::variables() const {
  std::vector<VariablePtr> all;
  for (const LayerPtr& layer : layers()) all.insert(all.end(), layer->variables().begin(), layer->variables().end());
  return all;
}

std::vector<VariablePtr> Model::trainable_variables() const {
  std::vector<VariablePtr> trained;
  for (const LayerPtr& layer : layers()) {
    const std::vector<VariablePtr> own = layer->trainable_variables();
    trained.insert(trained.end(), own.begin(), own.end());
  }
  return trained;
}

}  // namespace gpubench
