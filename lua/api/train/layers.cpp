// gb.layers and gb.Input: one constructor per kind of layer, with the options that core/nn describes.
#include "lua/api/train/layers.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "core/base/error.h"
#include "core/data/source/from_tensor_slices.h"
#include "core/nn/layer_kind.h"
#include "core/nn/regularizer.h"
#include "core/train/compress/adapt.h"
#include "core/train/trainer.h"
#include "lua/api/data/dataset.h"
#include "lua/api/openers.h"
#include "lua/api/tensor/layer_call.h"
#include "lua/api/tensor/tensor.h"
#include "lua/api/train/config_value.h"
#include "lua/api/train/custom_layer.h"
#include "lua/api/train/symbol_calls.h"

namespace gpubench::lua {

StoreVariables variables_of(Session& session, World& world) {
  return {world.runtime, [&session] { return session.random.next_seed(); }};
}

std::vector<Tensor> lasting_losses(const World& world, std::vector<Tensor> of_call) {
  std::erase_if(of_call,
                [&](const Tensor& loss) { return loss.symbolic() && loss.trace() != world.dispatcher.trace(); });
  return of_call;
}

std::vector<Tensor> all_losses(World& world, const std::vector<Tensor>& of_call, std::span<const LayerPtr> layers) {
  Graph graph;
  graph.set_device(world.dispatcher.device());
  const std::vector<gpubench::Value> values = penalties(graph, layers);
  std::vector<Tensor> losses = lasting_losses(world, of_call);
  if (values.empty()) return losses;
  for (Tensor& penalty : world.dispatcher.apply(graph, {}, values)) losses.push_back(std::move(penalty));
  return losses;
}

std::vector<VariablePtr> without(std::vector<VariablePtr> all, const std::vector<VariablePtr>& some) {
  std::erase_if(all, [&](const VariablePtr& one) { return std::ranges::find(some, one) != some.end(); });
  return all;
}

std::vector<Tensor> read_tensors(World& world, const std::vector<VariablePtr>& variables) {
  world.runtime.synchronize();
  std::vector<Tensor> result;
  for (const VariablePtr& variable : variables) {
    const HostTensor value = world.runtime.variables().read(*variable);
    result.push_back(world.dispatcher.eager().upload(value, world.dispatcher.device(), "weights"));
  }
  return result;
}

std::vector<HostTensor> host_tensors(lua_State* L, const std::vector<TensorLike>& values) {
  std::vector<HostTensor> tensors;
  Dispatcher& dispatcher = world_of(L).dispatcher;
  for (const TensorLike& value : values) {
    const bool symbolic = value.tensor.symbolic();  // which download() refuses
    tensors.push_back(symbolic ? download(L, value.tensor) : dispatcher.eager().download(value.tensor));
  }
  return tensors;
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

std::vector<SymbolPtr> symbols_of(const std::vector<ScriptSymbol>& given) {
  std::vector<SymbolPtr> symbols;
  for (const ScriptSymbol& symbol : given) symbols.push_back(symbol.symbol);
  return symbols;
}

std::shared_ptr<ScriptLayer> make_script_layer(lua_State* L, const LayerKind& kind, ConfigEntries options) {
  const WorldPtr& world = session_of(L).placement.world();
  if (std::ranges::find(options, "dtype", &ConfigEntries::value_type::first) == options.end())
    options.emplace_back("dtype", session_of(L).types.dtype_policy());
  auto layer = std::make_shared<ScriptLayer>();
  layer->world = world;
  layer->layer = make_layer(kind, options, world->dispatcher.device());
  note_made(L, layer->layer);
  return layer;
}

struct CustomOptions {
  std::optional<LuaFunction> build, compute_mask;
  LuaFunction call;
  bool supports_masking = false;
  std::optional<std::variant<std::int64_t, Shape>> state_size;
  std::string name;
  bool trainable = true;
  std::optional<Shape> input_shape;
  std::optional<std::string> dtype;
  static constexpr auto fields = std::tuple{field("build", &CustomOptions::build),
                                            required("call", &CustomOptions::call),
                                            field("compute_mask", &CustomOptions::compute_mask),
                                            field("supports_masking", &CustomOptions::supports_masking),
                                            field("state_size", &CustomOptions::state_size),
                                            field("name", &CustomOptions::name),
                                            field("trainable", &CustomOptions::trainable),
                                            field("input_shape", &CustomOptions::input_shape),
                                            field("dtype", &CustomOptions::dtype)};
};

/// A wrapper gets its layer as a text (config_value.cpp), and the message of a wrong type would ask for one.
void require_layer(const LayerKind& kind, const ConfigEntries& options) {
  const auto given = std::ranges::find(options, "layer", &ConfigEntries::value_type::first);
  if (given != options.end() && !std::holds_alternative<std::string>(given->second)) {
    throw ArgumentError(fmt::format(
        "{}: option 'layer': a layer of gb.layers is expected; models and functions cannot be wrapped", kind.name));
  }
}

/// gb.layers.<Kind>(positional..., options)
StackFunction constructor(const LayerKind& kind) {
  return [&kind](lua_State* L) {
    ConfigEntries options = read_config(L, 1, kind.positional, kind.fields);
    require_layer(kind, options);
    Value<std::shared_ptr<ScriptLayer>>::push(L, make_script_layer(L, kind, std::move(options)));
    return 1;
  };
}

/// gb.Input{shape = {784}} or gb.Input({784}): a symbol, as in Keras.
int input(lua_State* L) {
  const LayerKind& kind = find_layer_kind("Input");
  const auto layer = make_script_layer(L, kind, read_config(L, 1, kind.positional));
  Value<ScriptSymbol>::push(L, {layer->world, apply_layer(layer->layer, {})});
  return 1;
}

/// gb.layers.custom { build = function(self, shape), call = function(self, x, training), name = , ... }
std::shared_ptr<ScriptLayer> custom(lua_State* L, const CustomOptions& options) {
  CustomLayer functions{options.build.value_or(LuaFunction()),
                        options.call,
                        options.compute_mask.value_or(LuaFunction()),
                        options.supports_masking,
                        {}};
  if (options.state_size) {
    const auto* const one = std::get_if<std::int64_t>(&*options.state_size);
    functions.state_size = one != nullptr ? Shape{*one} : std::get<Shape>(*options.state_size);
    if (functions.state_size.empty() || std::ranges::any_of(functions.state_size, [](auto size) { return size < 1; })) {
      throw ArgumentError(fmt::format("option 'state_size': positive sizes, one for each state, are expected, got {}",
                                      to_string(functions.state_size)));
    }
  }
  ConfigEntries config{
      {"function", custom_function(std::move(functions))}, {"name", options.name}, {"trainable", options.trainable}};
  if (options.input_shape) config.emplace_back("input_shape", *options.input_shape);
  if (options.dtype) config.emplace_back("dtype", *options.dtype);
  return make_script_layer(L, find_layer_kind("custom"), std::move(config));
}

std::vector<Tensor> call_on_tensors(lua_State* L, ScriptLayer& self, const std::vector<Tensor>& arguments,
                                    const CallForm& form) {
  const std::vector<TensorType> examples = examples_of(fmt::format("layer {}", self.layer->kind()), arguments);
  if (!self.layer->built() && in_trial(L)) {
    std::vector<std::optional<TensorType>> masks;
    for (const Tensor& argument : arguments) {
      masks.push_back(argument.mask() == nullptr ? std::nullopt
                                                 : std::optional(examples_of("mask", {argument.mask(), 1}).front()));
    }
    return unknown_outputs(L, self.layer->infer(examples, form), arguments[0].type().shape[0],
                           self.layer->infer_masks(examples, form, masks));
  }
  StoreVariables factory = variables_of(session_of(L), *self.world);
  if (!self.layer->built()) self.layer->set_batch_rows(arguments[0].type().shape[0]);
  self.layer->build(factory, examples, form);
  const bool training = form.training.value_or(false);
  const CallOnTensors call{*self.world, self.counter, self.calls, training, training && self.layer->draws(), form};
  const auto add = [&](const CallContext& context, std::span<const gpubench::Value> values,
                       const std::vector<gpubench::Value>& masks) {
    return self.layer->call(context, values, form, masks);
  };
  CallOnTensors::Results results = call.apply(L, arguments, add);
  self.losses = std::move(results.losses);
  return std::move(results.outputs);
}

/// Each output as a result of its own.
template <class T>
int push_each(lua_State* L, const std::vector<T>& outputs) {
  luaL_checkstack(L, static_cast<int>(outputs.size()) + 4, "outputs of a layer");
  for (const T& output : outputs) Value<T>::push(L, output);
  return static_cast<int>(outputs.size());
}

/// layer(x): describes a model when x is symbolic, computes when it is a tensor.
int call_layer(lua_State* L) {
  const auto self = Value<std::shared_ptr<ScriptLayer>>::read(L, 1);
  const CallOptions options = call_options(L);
  if (are_symbols(L, 2)) {
    auto inputs = read_one_or_more<ScriptSymbol>(L, 2);
    const CallForm form = options.append_to(inputs);
    std::vector<ScriptSymbol> outputs;
    for (const SymbolPtr& output :
         outputs_of(std::make_shared<const Application>(self->layer, symbols_of(inputs), form))) {
      outputs.push_back({self->world, output});
    }
    self->output = outputs.front().symbol;
    return push_each(L, outputs);
  }
  auto inputs = read_one_or_more<Tensor>(L, 2);
  const CallForm form = options.append_to(inputs);
  return push_each(L, call_on_tensors(L, *self, inputs, form));
}

/// layer:compute_mask(inputs[, mask]): the mask of the output, nil for none.
int compute_mask(lua_State* L) {
  const auto self = Value<std::shared_ptr<ScriptLayer>>::read(L, 1);
  CallOptions options;
  if (!lua_isnoneornil(L, 3)) options.mask = Value<CallOptions::Given>::read(L, 3);
  const bool handed_on = options.mask && !self->layer->reads_masks();
  if (handed_on && self->layer->mask_rule() == MaskRule::passes) {
    lua_settop(L, 3);
    return 1;
  }
  if (handed_on) options.mask.reset();  // the output has none, or one of the layer's own
  if (are_symbols(L, 2)) {
    auto inputs = read_one_or_more<ScriptSymbol>(L, 2);
    const CallForm form = options.append_to(inputs);
    const auto application = std::make_shared<const Application>(self->layer, symbols_of(inputs), form);
    const SymbolPtr mask = mask_of(application);
    Value<std::optional<ScriptSymbol>>::push(L, mask ? std::optional(ScriptSymbol{self->world, mask}) : std::nullopt);
    return 1;
  }
  auto inputs = read_one_or_more<Tensor>(L, 2);
  const CallForm form = options.append_to(inputs);
  self->layer->infer(examples_of(fmt::format("layer {}", self->layer->kind()), inputs), form);
  const CallOnTensors call{*self->world, self->counter, self->calls, false, false, form, 1};
  const auto add = [&](const CallContext& context, std::span<const gpubench::Value> values,
                       const std::vector<gpubench::Value>& masks) {
    LayerOutputs outputs{self->layer->call_for_masks(context, values, form, masks), {}};
    outputs.values.resize(1);
    return outputs;
  };
  const Tensor mask = call.apply(L, inputs, add).outputs.front();
  Value<std::optional<Tensor>>::push(L, mask ? std::optional(mask) : std::nullopt);
  return 1;
}

/// layer:reset_state(): the states of a stateful layer become 0.
void reset_layer_state(const ScriptLayer& self) {
  const std::vector<VariablePtr> states = self.layer->kept_states();
  if (states.empty()) {
    throw Error(
        fmt::format("{}: has no state that outlives a call: a recurrent layer has one that is stateful, after "
                    "its first call",
                    self.layer->title()));
  }
  self.world->runtime.synchronize();
  for (const VariablePtr& state : states) self.world->runtime.variables().write(*state, HostTensor::zeros(state->type));
}

bool layer_supports_masking(const ScriptLayer& self) {
  return self.layer->mask_rule() != MaskRule::drops;
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

std::vector<Tensor> tensors_of(const ScriptLayer& self, const std::vector<VariablePtr>& variables) {
  std::vector<Tensor> tensors;
  for (const VariablePtr& variable : variables) tensors.push_back(self.world->dispatcher.variable(variable));
  return tensors;
}

std::vector<Tensor> layer_variables(const ScriptLayer& self) {
  return tensors_of(self, self.layer->variables());
}

std::vector<Tensor> trainable_variables_of_layer(const ScriptLayer& self) {
  return tensors_of(self, self.layer->trainable_variables());
}

std::vector<Tensor> other_variables_of_layer(const ScriptLayer& self) {
  return tensors_of(self, without(self.layer->variables(), self.layer->trainable_variables()));
}

std::vector<Tensor> losses_of_layer(const ScriptLayer& self) {
  return all_losses(*self.world, self.losses, std::array{self.layer});
}

std::vector<Tensor> layer_weights(const ScriptLayer& self) {
  return read_tensors(*self.world, self.layer->variables());
}

void set_layer_weights(lua_State* L, const std::shared_ptr<ScriptLayer>& self, const std::vector<TensorLike>& values) {
  if (!self->layer->built()) self->layer->fail("has no weights yet; it makes them when it is first called");
  write_weights(self->world->runtime, self->layer->title(), self->layer->variables(), host_tensors(L, values));
}

std::int64_t parameters_of_layer(const ScriptLayer& self) {
  std::int64_t total = 0;
  for (const VariablePtr& variable : self.layer->variables()) total += variable->type.elements();
  return total;
}

/// Nil before the layer is applied to symbols.
std::optional<ScriptSymbol> layer_output(const ScriptLayer& self) {
  if (self.output == nullptr) return std::nullopt;
  return ScriptSymbol{self.world, self.output};
}

bool layer_trainable(const ScriptLayer& self) {
  return self.layer->trainable();
}

void set_layer_trainable(const ScriptLayer& self, bool trainable) {
  self.layer->set_trainable(trainable);
}

/// layer:adapt(data), where data is a dataset of batches, or one tensor
void adapt_layer(lua_State* L, const std::shared_ptr<ScriptLayer>& self, const std::variant<DatasetPtr, Tensor>& data) {
  const auto* const tensor = std::get_if<Tensor>(&data);
  const DatasetPtr dataset = tensor != nullptr ? from_tensors({download(L, *tensor)}) : std::get<DatasetPtr>(data);
  StoreVariables factory = variables_of(session_of(L), *self->world);
  adapt(self->world->runtime, factory, *self->layer, *dataset);
}

std::string layer_text(const ScriptLayer& self) {
  return fmt::format("Layer {} ({})", layer_name(self), self.layer->kind());
}

Shape symbol_shape(const ScriptSymbol& self) {
  return self.symbol->type().shape;
}

std::string symbol_dtype(const ScriptSymbol& self) {
  return std::string(to_string(self.symbol->type().dtype));
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
      .property<&layer_variables>("weights")
      .property<&trainable_variables_of_layer>("trainable_variables")
      .property<&trainable_variables_of_layer>("trainable_weights")
      .property<&other_variables_of_layer>("non_trainable_variables")
      .property<&other_variables_of_layer>("non_trainable_weights")
      .method<&layer_weights>("get_weights")
      .method<&set_layer_weights>("set_weights")
      .method<&parameters_of_layer>("count_params")
      .property<&layer_output>("output")
      .property<&losses_of_layer>("losses")
      .property<&layer_trainable, &set_layer_trainable>("trainable")
      .property<&layer_supports_masking>("supports_masking")
      .method<&adapt_layer>("adapt")
      .method<&compute_mask, 2>("compute_mask")
      .method<&reset_layer_state>("reset_state")
      .method<&reset_layer_state>("reset_states")
      .call<&call_layer, any_number>()
      .meta<&layer_text>("__tostring");
  Class<ScriptSymbol>(L)
      .property<&symbol_shape>("shape")
      .property<&symbol_dtype>("dtype")
      .meta<&symbol_text>("__tostring")
      .index<&index_symbol>();
  add_symbol_calls(L);
  const Module gb = Module::root(L);
  gb.function<&input, any_number>("Input");
  const Module layers = gb.submodule("layers");
  for (const LayerKind& kind : layer_kinds()) {
    if (kind.name != "Input" && kind.name != "custom") layers.constructor(kind.name.c_str(), constructor(kind));
  }
  layers.function<&input, any_number>("Input").function<&custom>("custom");
}

}  // namespace gpubench::lua
