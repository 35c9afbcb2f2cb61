// gb.layers and gb.Input: one constructor per kind of layer, with the options that core/nn describes.
#include "lua/api/train/layers.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "core/base/error.h"
#include "core/data/source/from_tensor_slices.h"
#include "core/nn/layer_kind.h"
#include "core/nn/regularizer.h"
#include "core/ops/broadcast.h"
#include "core/ops/elementwise.h"
#include "core/ops/state.h"
#include "core/train/compress/adapt.h"
#include "core/train/trainer.h"
#include "lua/api/data/dataset.h"
#include "lua/api/openers.h"
#include "lua/api/tensor/tensor.h"
#include "lua/api/train/config_value.h"
#include "lua/api/train/layer_call.h"
#include "lua/api/train/script_function.h"
#include "lua/api/train/symbol_calls.h"

namespace gpubench::lua {

StoreVariables variables_of(Session& session, World& world) {
  return {world.runtime, [&session] { return session.random.next_seed(); }};
}

gpubench::Value CallCounter::count(Graph& graph, World& world) {
  if (!counter_) {
    counter_ = world.runtime.variables().create("calls", HostTensor::scalar<std::int64_t>(0), world.dispatcher.device(),
                                                false);
  }
  return ops::count_call(graph, counter_);
}

CallOnTensors::Results CallOnTensors::apply(lua_State* L, std::vector<Tensor> inputs, std::size_t outputs,
                                            const AddCall& add) const {
  const LayerCall* const outer = current_layer_call(L);
  CallVariant variant = variant_of_call(world.dispatcher, inputs, training, draws);
  if (outer != nullptr && (training || draws)) {
    variant.first_row = outer->context.first_row;
    variant.replica = outer->context.replica;
  }
  const bool shares_step = draws && outer != nullptr && outer->step;
  if (shares_step) inputs.push_back(*outer->step);
  const auto build = [&](Graph& graph, std::span<const gpubench::Value> values) {
    std::vector<gpubench::Value> losses;
    CallContext context{.graph = graph,
                        .training = training,
                        .first_row = variant.first_row,
                        .replica = variant.replica,
                        .losses = &losses};
    if (shares_step) {
      context.step = values.back();
      values = values.first(values.size() - 1);
    } else if (draws) {
      context.step = counter.count(graph, world);
    }
    std::vector<gpubench::Value> results = add(context, values);
    results.insert(results.end(), losses.begin(), losses.end());
    return results;
  };
  Results results{calls.apply(world.dispatcher, inputs, variant, build), {}};
  results.losses.assign(results.outputs.begin() + static_cast<std::ptrdiff_t>(outputs), results.outputs.end());
  results.outputs.resize(outputs);
  if (outer != nullptr && world.dispatcher.trace() != nullptr) {
    for (const Tensor& loss : results.losses) world.dispatcher.trace()->losses.push_back(world.dispatcher.symbol(loss));
  }
  return results;
}

bool in_trial(lua_State* L) {
  const LayerCall* const outer = current_layer_call(L);
  return outer != nullptr && outer->trial;
}

std::vector<TensorType> examples_of(const std::string& caller, std::span<const Tensor> inputs) {
  if (inputs.empty()) throw Error(fmt::format("{}: expects a tensor, got an empty list", caller));
  std::vector<TensorType> types;
  for (const Tensor& input : inputs) {
    const TensorType& type = input.type();
    if (type.shape.empty()) {
      throw Error(fmt::format("{}: expects tensors with a batch dimension, got {}", caller, to_string(type)));
    }
    types.push_back({Shape(type.shape.begin() + 1, type.shape.end()), type.dtype});
  }
  return types;
}

std::vector<Tensor> unknown_outputs(lua_State* L, TensorTypes examples, std::int64_t rows) {
  const std::shared_ptr<Trace>& trace = world_of(L).dispatcher.trace();
  if (trace == nullptr) throw Error("a layer of an earlier point is called in the function of a layer; make it anew");
  std::vector<Tensor> outputs;
  for (TensorType type : examples) {
    type.shape.insert(type.shape.begin(), rows);
    outputs.emplace_back(trace, trace->graph.input(std::move(type), "unknown"));
  }
  return outputs;
}

CallOptions call_options(lua_State* L) {
  constexpr int options = 3;
  for (int index = options; index <= lua_gettop(L); ++index) {
    if (!Value<ScriptSymbol>::matches(L, index) && !Value<Tensor>::matches(L, index)) continue;
    throw ArgumentError(
        fmt::format("argument #{}: options are expected, got {}; several inputs stand in one table: "
                    "layer {{ a, b }}",
                    index - 1, type_name_at(L, index)));
  }
  reject_surplus(L, options, 1);
  ArgumentCursor cursor{.L = L, .next = options, .hidden = 1};
  return Parameter<CallOptions>::read(cursor);
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

std::shared_ptr<ScriptLayer> make_script_layer(lua_State* L, const LayerKind& kind, ConfigEntries options) {
  const WorldPtr& world = session_of(L).placement.world();
  if (std::ranges::find(options, "dtype", &ConfigEntries::value_type::first) == options.end())
    options.emplace_back("dtype", session_of(L).types.dtype_policy());
  auto layer = std::make_shared<ScriptLayer>();
  layer->world = world;
  layer->layer = make_layer(kind, options, world->dispatcher.device());
  return layer;
}

struct CustomOptions {
  std::optional<LuaFunction> build;
  LuaFunction call;
  std::string name;
  bool trainable = true;
  std::optional<Shape> input_shape;
  std::optional<std::string> dtype;
  static constexpr auto fields = std::tuple{field("build", &CustomOptions::build),
                                            required("call", &CustomOptions::call),
                                            field("name", &CustomOptions::name),
                                            field("trainable", &CustomOptions::trainable),
                                            field("input_shape", &CustomOptions::input_shape),
                                            field("dtype", &CustomOptions::dtype)};
};

/// gb.layers.<Kind>(positional..., options)
StackFunction constructor(const LayerKind& kind) {
  return [&kind](lua_State* L) {
    Value<std::shared_ptr<ScriptLayer>>::push(
        L, make_script_layer(L, kind, read_config(L, 1, kind.positional, kind.fields)));
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
  ConfigEntries config{{"function", custom_function({options.build.value_or(LuaFunction()), options.call})},
                       {"name", options.name},
                       {"trainable", options.trainable}};
  if (options.input_shape) config.emplace_back("input_shape", *options.input_shape);
  if (options.dtype) config.emplace_back("dtype", *options.dtype);
  return make_script_layer(L, find_layer_kind("custom"), std::move(config));
}

Tensor call_on_tensors(lua_State* L, ScriptLayer& self, const std::vector<Tensor>& inputs, bool training) {
  const std::vector<TensorType> examples = examples_of(fmt::format("layer {}", self.layer->kind()), inputs);
  if (!self.layer->built() && in_trial(L)) {
    return unknown_outputs(L, std::array{self.layer->infer(examples)}, inputs[0].type().shape[0]).front();
  }
  StoreVariables factory = variables_of(session_of(L), *self.world);
  self.layer->build(factory, examples);
  const CallOnTensors call{*self.world, self.counter, self.calls, training, training && self.layer->draws()};
  const auto add = [&](const CallContext& context, std::span<const gpubench::Value> values) {
    return std::vector{self.layer->call(context, values)};
  };
  CallOnTensors::Results results = call.apply(L, inputs, 1, add);
  self.losses = std::move(results.losses);
  return results.outputs.front();
}

/// layer(x): describes a model when x is symbolic, computes when it is a tensor.
int call_layer(lua_State* L) {
  const auto self = Value<std::shared_ptr<ScriptLayer>>::read(L, 1);
  const CallOptions options = call_options(L);
  if (are_symbols(L, 2)) {
    std::vector<SymbolPtr> inputs;
    for (const ScriptSymbol& symbol : read_one_or_more<ScriptSymbol>(L, 2)) inputs.push_back(symbol.symbol);
    self->output = apply_layer(self->layer, std::move(inputs), options.training);
    Value<ScriptSymbol>::push(L, {self->world, self->output});
    return 1;
  }
  const auto inputs = read_one_or_more<Tensor>(L, 2);
  Value<Tensor>::push(L, call_on_tensors(L, *self, inputs, options.training.value_or(false)));
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
      .method<&adapt_layer>("adapt")
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
    if (kind.name != "Input" && kind.name != "custom") layers.value(kind.name.c_str(), constructor(kind));
  }
  layers.function<&input, any_number>("Input").function<&custom>("custom");
}

}  // namespace gpubench::lua
