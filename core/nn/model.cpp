#include "core/nn/model.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <set>

#include "core/base/error.h"
#include "core/base/known_names.h"
#include "core/nn/layer_kind.h"
#include "core/nn/layer_order.h"
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

/// Each of `all` once: those of `order` first, in that order.
std::vector<LayerPtr> each_once(std::vector<LayerPtr> order, const std::vector<LayerPtr>& all) {
  order.insert(order.end(), all.begin(), all.end());
  std::set<LayerPtr> left(all.begin(), all.end());
  std::erase_if(order, [&](const LayerPtr& layer) { return left.erase(layer) == 0; });
  return order;
}

void require_names(const std::string& model, std::string_view what, const std::vector<std::string>& names,
                   std::size_t count) {
  const std::set<std::string> distinct(names.begin(), names.end());
  if (names.empty() || (names.size() == count && distinct.size() == count)) return;
  throw Error(fmt::format("model '{}': has {} {}, and so as many names that differ; got {}", model, count, what,
                          fmt::join(names, ", ")));
}

}  // namespace

Model::Model(std::string name, const std::vector<SymbolPtr>& inputs, const std::vector<SymbolPtr>& outputs,
             const std::vector<LayerPtr>& order, ModelNames given_names)
    : name_(std::move(name)), given_names_(std::move(given_names)) {
  if (inputs.empty() || outputs.empty()) {
    throw Error(fmt::format("model '{}': needs at least one input and one output, got {} and {}", name_, inputs.size(),
                            outputs.size()));
  }
  require_names(name_, "inputs", given_names_.inputs, inputs.size());
  require_names(name_, "outputs", given_names_.outputs, outputs.size());
  for (const SymbolPtr& input : inputs) {
    if (input->inputs().empty()) continue;
    throw Error(fmt::format("model '{}': its inputs must be Input layers, got the output of layer {}", name_,
                            input->layer()->kind()));
  }
  cut(inputs, outputs, order);
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
    if (const std::size_t outputs = end->application()->types.size(); outputs > 1) {
      throw Error(
          fmt::format("model '{}': a layer of a Sequential returns one value, and layer {} ({}) returns {}; "
                      "gb.Model takes it",
                      name_, i + 1, layer.kind(), outputs));
    }
  }
  cut({start}, {end}, {});
}

void Model::cut(const std::vector<SymbolPtr>& inputs, const std::vector<SymbolPtr>& outputs,
                const std::vector<LayerPtr>& order) {
  std::map<const Symbol*, std::size_t> index;
  std::map<const Application*, std::size_t> applications;
  const auto append = [&](const Symbol& symbol) {
    const std::size_t at = calls_.size(), first = applications.emplace(symbol.application().get(), at).first->second;
    Call call{symbol.layer(), {}, symbol.type(), symbol.shared_from_this(), symbol.form(), first, symbol.output()};
    for (const SymbolPtr& input : symbol.inputs()) call.inputs.push_back(index.at(input.get()));
    calls_.push_back(std::move(call));
    return index.emplace(&symbol, at).first->second;
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
  const std::vector<LayerPtr> called = called_layers();
  layers_ =
      std::make_shared<const std::vector<LayerPtr>>(each_once(order.empty() ? layer_order(outputs) : order, called));
}

void Model::name_layers() const {
  std::set<const Layer*> seen;
  std::set<std::string> taken;
  std::vector<LayerPtr> unnamed;
  for (const LayerPtr& layer : called_layers()) {
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
  std::int64_t rows = 0;
  for (const std::size_t input : inputs_) rows = std::max(rows, calls_[input].layer->declared_rows());
  for (const Call& call : calls_) {
    if (call.inputs.empty()) continue;
    if (!call.layer->built()) call.layer->set_batch_rows(rows);
    std::vector<TensorType> types;
    for (const std::size_t input : call.inputs) types.push_back(calls_[input].type);
    call.layer->build(factory, types, call.form);
  }
  if (draws(false)) {
    counter_ = factory.create("calls", HostTensor::scalar<std::int64_t>(0), calls_.front().layer->device(), false,
                              std::make_shared<Owner>(Owner{name_}));
  }
  built_ = true;
}

LayerOutputs Model::call(const CallContext& context, Values inputs, const std::vector<Value>& masks) const {
  const LayerOutputs all = call_each(context, inputs, masks);
  LayerOutputs results;
  for (const std::size_t output : outputs_) {
    results.values.push_back(all.values[output]);
    results.masks.push_back(all.masks[output]);
  }
  return results;
}

LayerOutputs Model::call_each(const CallContext& context, Values inputs, const std::vector<Value>& masks) const {
  std::vector<TensorType> examples;
  for (const Value input : inputs) {
    const TensorType& type = context.graph.type(input);
    if (type.shape.empty()) {
      throw Error(fmt::format("model '{}': expects tensors with a batch dimension, got {}", name_, to_string(type)));
    }
    examples.push_back({Shape(type.shape.begin() + 1, type.shape.end()), type.dtype});
  }
  check_inputs(examples);
  LayerOutputs all{std::vector<Value>(calls_.size()), std::vector<Value>(calls_.size())};
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    const Call& source = calls_[inputs_[i]];
    const std::int64_t rows = source.layer->declared_rows(), given = context.graph.type(inputs[i]).shape[0];
    if (rows != 0 && rows != given) {
      throw Error(
          fmt::format("model '{}': its input '{}' has the batch_size {}, got a batch of {}; leave out a smaller "
                      "last batch by dataset:batch(size, {{ drop_remainder = true }})",
                      name_, source.layer->name(), rows, given));
    }
    const GraphScope scope(context.graph, source.layer->device(), source.layer->owner());
    all.values[inputs_[i]] = ops::cast(context.graph, inputs[i], source.type.dtype);
    if (i < masks.size()) all.masks[inputs_[i]] = masks[i];
  }
  const Value step = context.step || counter_ == nullptr ? context.step : ops::count_call(context.graph, counter_);
  std::map<std::size_t, LayerOutputs> applied;
  for (std::size_t i = 0; i < calls_.size(); ++i) {
    if (all.values[i]) continue;
    const Call& call = calls_[i];
    const auto [found, is_new] = applied.try_emplace(call.application);
    LayerOutputs& outputs = found->second;
    if (is_new) {
      std::vector<Value> arguments, came_with;
      for (const std::size_t input : call.inputs) {
        arguments.push_back(all.values[input]);
        came_with.push_back(all.masks[input]);
      }
      CallContext own = context;
      own.step = step;
      own.training = call.form.training.value_or(context.training);
      outputs = call.layer->call(own, arguments, call.form, came_with);
    }
    if (call.output == Symbol::mask_output) {
      all.values[i] = outputs.masks.front();
      continue;
    }
    all.values[i] = outputs.values[static_cast<std::size_t>(call.output)];
    all.masks[i] = outputs.masks[static_cast<std::size_t>(call.output)];
  }
  return all;
}

bool Model::draws(bool training) const {
  return std::ranges::any_of(
      calls_, [&](const Call& call) { return call.form.training.value_or(training) && call.layer->draws(); });
}

std::vector<SymbolPtr> Model::apply(const std::vector<SymbolPtr>& inputs, std::optional<bool> training) const {
  if (!defined() || inputs.size() != inputs_.size()) {
    throw Error(fmt::format("model '{}': takes {} inputs as a layer, got {}", name_, inputs_.size(), inputs.size()));
  }
  std::vector<SymbolPtr> symbols(calls_.size());
  for (std::size_t i = 0; i < inputs_.size(); ++i) symbols[inputs_[i]] = inputs[i];
  Reapplication again(std::make_shared<const NestedCall>(NestedCall{layers_, {inputs.begin(), inputs.end()}}));
  for (std::size_t i = 0; i < calls_.size(); ++i) {
    if (symbols[i]) continue;
    const Call& call = calls_[i];
    std::vector<SymbolPtr> arguments;
    for (const std::size_t input : call.inputs) arguments.push_back(symbols[input]);
    CallForm form = call.form;
    if (!form.training) form.training = training;
    symbols[i] = again.apply(call.application, call.output, call.layer, std::move(arguments), form);
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

std::vector<std::string> Model::input_names() const {
  if (!given_names_.inputs.empty()) return given_names_.inputs;
  std::vector<std::string> names;
  for (const std::size_t input : inputs_) names.push_back(calls_[input].layer->name());
  return names;
}

std::vector<std::string> Model::output_names() const {
  if (!given_names_.outputs.empty()) return given_names_.outputs;
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
  return layers_ != nullptr ? *layers_ : *chain_;
}

std::vector<LayerPtr> Model::called_layers() const {
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
