// gb.layers and gb.Input: one constructor per kind of layer, with the options that core/nn describes.
#include "lua/api/layers.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "core/base/error.h"
#include "core/nn/layer_kind.h"
#include "core/ops/broadcast.h"
#include "core/ops/elementwise.h"
#include "core/ops/state.h"
#include "lua/api/config_value.h"
#include "lua/api/openers.h"
#include "lua/api/tensor.h"

namespace gpubench::lua {

StoreVariables variables_of(Session& session, World& world) {
  return {world.runtime, [&session] { return session.next_seed(); }};
}

gpubench::Value CallCounter::count(Graph& graph, World& world) {
  if (!counter_) {
    counter_ = world.runtime.variables().create("calls", HostTensor::scalar<std::int64_t>(0), world.dispatcher.device(),
                                                false);
  }
  const GraphScope scope(graph, counter_->device, "calls");
  const gpubench::Value counted =
      ops::assign_add(graph, graph.variable(counter_), graph.constant(HostTensor::scalar<std::int64_t>(1)));
  // A copy, because a gradient computed later must use this call's number even if the variable has changed.
  return ops::add(graph, counted, ops::scalar(graph, 0, Dtype::i64));
}

bool are_symbols(lua_State* L, int index) {
  if (Value<ScriptSymbol>::matches(L, index)) return true;
  if (!lua_istable(L, index)) return false;
  lua_rawgeti(L, index, 1);
  const bool symbols = Value<ScriptSymbol>::matches(L, -1);
  lua_pop(L, 1);
  return symbols;
}

namespace {

std::shared_ptr<ScriptLayer> make_script_layer(lua_State* L, const LayerKind& kind) {
  const WorldPtr& world = session_of(L).world();
  ConfigEntries options = read_config(L, 1, kind.positional);
  if (std::ranges::find(options, "dtype", &ConfigEntries::value_type::first) == options.end())
    options.emplace_back("dtype", session_of(L).dtype_policy());
  auto layer = std::make_shared<ScriptLayer>();
  layer->world = world;
  layer->layer = make_layer(kind, options, world->dispatcher.device());
  return layer;
}

/// gb.layers.<Kind>(positional..., options)
StackFunction constructor(const LayerKind& kind) {
  return [&kind](lua_State* L) {
    Value<std::shared_ptr<ScriptLayer>>::push(L, make_script_layer(L, kind));
    return 1;
  };
}

/// gb.Input{shape = {784}} or gb.Input({784}): a symbol, as in Keras.
int input(lua_State* L) {
  const auto layer = make_script_layer(L, find_layer_kind("Input"));
  Value<ScriptSymbol>::push(L, {layer->world, apply_layer(layer->layer, {})});
  return 1;
}

std::vector<TensorType> examples_of(const Layer& layer, std::span<const Tensor> inputs) {
  std::vector<TensorType> types;
  for (const Tensor& input : inputs) {
    const TensorType& type = input.type();
    if (type.shape.empty()) {
      throw Error(
          fmt::format("layer {}: expects tensors with a batch dimension, got {}", layer.kind(), to_string(type)));
    }
    types.push_back({Shape(type.shape.begin() + 1, type.shape.end()), type.dtype});
  }
  return types;
}

Tensor call_on_tensors(lua_State* L, ScriptLayer& self, const std::vector<Tensor>& inputs, bool training) {
  StoreVariables factory = variables_of(session_of(L), *self.world);
  self.layer->build(factory, examples_of(*self.layer, inputs));
  const bool random = training && self.layer->draws();
  const CallVariant variant = variant_of_call(self.world->dispatcher, inputs, training, random);
  const auto build = [&](Graph& graph, std::span<const gpubench::Value> values) {
    CallContext context{
        .graph = graph, .training = training, .first_row = variant.first_row, .replica = variant.replica};
    if (random) context.step = self.counter.count(graph, *self.world);
    return std::vector{self.layer->call(context, values)};
  };
  return self.calls.apply(self.world->dispatcher, inputs, variant, build).front();
}

/// layer(x): describes a model when x is symbolic, computes when it is a tensor.
int call_layer(lua_State* L) {
  const auto self = Value<std::shared_ptr<ScriptLayer>>::read(L, 1);
  if (are_symbols(L, 2)) {
    std::vector<SymbolPtr> inputs;
    for (const ScriptSymbol& symbol : read_one_or_more<ScriptSymbol>(L, 2)) inputs.push_back(symbol.symbol);
    Value<ScriptSymbol>::push(L, {self->world, apply_layer(self->layer, std::move(inputs))});
    return 1;
  }
  const auto inputs = read_one_or_more<Tensor>(L, 2);
  const auto options = Value<CallOptions>::read(L, 3);
  Value<Tensor>::push(L, call_on_tensors(L, *self, inputs, options.training));
  return 1;
}

std::string layer_name(const ScriptLayer& self) {
  return self.layer->name().empty() ? self.layer->default_name() : self.layer->name();
}

std::string layer_policy(const ScriptLayer& self) {
  return self.layer->policy().name;
}

std::string layer_kind_name(const ScriptLayer& self) {
  return self.layer->kind();
}

std::vector<Tensor> layer_variables(const ScriptLayer& self) {
  std::vector<Tensor> tensors;
  for (const VariablePtr& variable : self.layer->variables()) {
    tensors.push_back(self.world->dispatcher.variable(variable));
  }
  return tensors;
}

bool layer_trainable(const ScriptLayer& self) {
  return self.layer->trainable();
}

void set_layer_trainable(const ScriptLayer& self, bool trainable) {
  self.layer->set_trainable(trainable);
}

std::string layer_text(const ScriptLayer& self) {
  return fmt::format("Layer {} ({})", layer_name(self), self.layer->kind());
}

Shape symbol_shape(const ScriptSymbol& self) {
  return self.symbol->type().shape;
}

std::string symbol_text(const ScriptSymbol& self) {
  return fmt::format("SymbolicTensor {} per example", to_string(self.symbol->type()));
}

}  // namespace

void open_layers(lua_State* L) {
  Class<ScriptLayer>(L)
      .property<&layer_name>("name")
      .property<&layer_kind_name>("kind")
      .property<&layer_policy>("dtype_policy")
      .property<&layer_variables>("variables")
      .property<&layer_trainable, &set_layer_trainable>("trainable")
      .meta<&call_layer>("__call")
      .meta<&layer_text>("__tostring");
  Class<ScriptSymbol>(L).property<&symbol_shape>("shape").meta<&symbol_text>("__tostring");
  const Module gb = Module::root(L);
  gb.function<&input>("Input");
  const Module layers = gb.submodule("layers");
  for (const LayerKind& kind : layer_kinds()) {
    if (kind.name != "Input") layers.value(kind.name.c_str(), constructor(kind));
  }
  layers.function<&input>("Input");
}

}  // namespace gpubench::lua
