// gb.Model, gb.load_model and the class Model.
#include "lua/api/train/model.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fmt/format.h>

#include "core/base/error.h"
#include "core/nn/architecture.h"
#include "core/results/info.h"
#include "core/train/files/model_files.h"
#include "lua/api/openers.h"
#include "lua/api/output_path.h"
#include "lua/api/tensor/tensor.h"
#include "lua/api/train/by_name.h"
#include "lua/api/train/native_call.h"
#include "lua/api/train/optimizers.h"
#include "lua/api/train/script_function.h"

namespace gpubench::lua {

ModelHandle make_script_model(lua_State* L, const WorldPtr& world, ModelPtr model) {
  auto made = std::make_shared<ScriptModel>(session_of(L), world, std::move(model));
  if (made->model->defined()) made->model->build(made->variables);
  note_made(L, made);
  return made;
}

namespace {

using Symbols = std::variant<ScriptSymbol, ListOrNamed<ScriptSymbol>>;

/// In the order of the names, which `names` gets.
std::vector<SymbolPtr> symbols_of(const Symbols& symbols, std::vector<std::string>& names) {
  std::vector<SymbolPtr> result;
  if (const auto* one = std::get_if<ScriptSymbol>(&symbols)) return {one->symbol};
  const auto& several = std::get<ListOrNamed<ScriptSymbol>>(symbols);
  for (const ScriptSymbol& symbol : several.list) result.push_back(symbol.symbol);
  for (const auto& [name, symbol] : several.named) {
    result.push_back(symbol.symbol);
    names.push_back(name);
  }
  return result;
}

struct ModelOptions {
  Symbols inputs, outputs;
  std::string name = "model";
  static constexpr auto fields =
      std::tuple{required("inputs", &ModelOptions::inputs), required("outputs", &ModelOptions::outputs),
                 field("name", &ModelOptions::name)};
};

/// gb.Model { inputs = symbol, list or table by names, outputs = the same }
ModelHandle functional(lua_State* L, const ModelOptions& options) {
  ModelNames names;
  const std::vector<SymbolPtr> inputs = symbols_of(options.inputs, names.inputs);
  const std::vector<SymbolPtr> outputs = symbols_of(options.outputs, names.outputs);
  return make_script_model(
      L, session_of(L).placement.world(),
      std::make_shared<Model>(options.name, inputs, outputs, std::vector<LayerPtr>(), std::move(names)));
}

/// model(x): a layer of another model when x is symbolic, the outputs when it is a tensor.
int call_model(lua_State* L) {
  const auto self = Value<ModelHandle>::read(L, 1);
  const CallOptions options = call_options(L);
  if (options.query_mask || options.value_mask || options.key_mask || options.initial_state || options.reverse) {
    throw ArgumentError("a model takes the options training and mask; states are inputs of the model");
  }
  const ModelNames& given_names = self->model->given_names();
  if (push_in_order(L, 2, names_of_inputs(*self->model))) lua_replace(L, 2);
  if (are_symbols(L, 2)) {
    if (options.mask) throw ArgumentError("option 'mask': a model takes it with tensors; symbols carry their masks");
    std::vector<SymbolPtr> inputs;
    for (const ScriptSymbol& symbol : read_one_or_more<ScriptSymbol>(L, 2)) inputs.push_back(symbol.symbol);
    std::vector<ScriptSymbol> outputs;
    for (const SymbolPtr& symbol : self->model->apply(inputs, options.training))
      outputs.push_back({self->world, symbol});
    push_outputs(L, given_names, std::move(outputs));
    return 1;
  }
  auto inputs = read_one_or_more<Tensor>(L, 2);
  if (options.mask) {
    const auto* const mask = std::get_if<Tensor>(&*options.mask);
    if (mask == nullptr || inputs.size() != 1) {
      throw ArgumentError("option 'mask': a tensor for a model with one input is expected");
    }
    inputs[0] = inputs[0].with_mask(*mask);
  }
  const bool training = options.training.value_or(false);
  self->model->define(examples_of(fmt::format("model '{}'", self->model->name()), inputs));
  if (!self->model->built() && in_trial(L)) {
    push_outputs(L, given_names, unknown_outputs(L, self->model->output_types(), inputs[0].type().shape[0]));
    return 1;
  }
  self->model->build(self->variables);
  const CallOnTensors call{*self->world, self->counter, self->calls, training, self->model->draws(training)};
  const auto add = [&](const CallContext& context, std::span<const gpubench::Value> values,
                       const std::vector<gpubench::Value>& masks) { return self->model->call(context, values, masks); };
  CallOnTensors::Results results = call.apply(L, inputs, add);
  self->losses = std::move(results.losses);
  push_outputs(L, given_names, std::move(results.outputs));
  return 1;
}

std::string name(const ScriptModel& self) {
  return self.model->name();
}

/// With the symbol of the layer's first call in the model.
std::shared_ptr<ScriptLayer> layer_of(const ScriptModel& self, const LayerPtr& layer) {
  auto made = std::make_shared<ScriptLayer>();
  made->world = self.world;
  made->layer = layer;
  const auto call = std::ranges::find(self.model->calls(), layer, &Model::Call::layer);
  if (call != self.model->calls().end()) made->output = call->symbol;
  return made;
}

/// Without the Input of a Sequential, as Keras lists them.
std::vector<LayerPtr> listed_layers(const ScriptModel& self) {
  std::vector<LayerPtr> listed = self.model->layers();
  if (self.model->sequential()) std::erase_if(listed, [](const LayerPtr& layer) { return layer->declared_input(); });
  return listed;
}

std::vector<std::shared_ptr<ScriptLayer>> layers(const ScriptModel& self) {
  std::vector<std::shared_ptr<ScriptLayer>> result;
  for (const LayerPtr& layer : listed_layers(self)) result.push_back(layer_of(self, layer));
  return result;
}

struct LayerChoice {
  std::optional<std::string> name;
  std::optional<std::int64_t> index;
  static constexpr auto fields = std::tuple{field("name", &LayerChoice::name), field("index", &LayerChoice::index)};
};

/// model:get_layer("dense"), model:get_layer { name = } or { index = }, counted as in model.layers.
std::shared_ptr<ScriptLayer> get_layer(const ScriptModel& self, const std::variant<std::string, LayerChoice>& given) {
  LayerChoice choice;
  if (const auto* const name = std::get_if<std::string>(&given)) choice.name = *name;
  if (const auto* const table = std::get_if<LayerChoice>(&given)) choice = *table;
  if (choice.name.has_value() == choice.index.has_value()) {
    throw ArgumentError("get_layer: a name or an index is expected");
  }
  if (choice.name) return layer_of(self, self.model->layer_named(*choice.name));
  const std::vector<LayerPtr> all = listed_layers(self);
  if (*choice.index < 1 || *choice.index > std::ssize(all)) {
    throw ArgumentError(fmt::format("get_layer: model '{}' has the layers 1 to {}, got {}", self.model->name(),
                                    all.size(), *choice.index));
  }
  return layer_of(self, all[static_cast<std::size_t>(*choice.index - 1)]);
}

std::vector<ScriptSymbol> symbols(const ScriptModel& self, const std::vector<std::size_t>& calls) {
  std::vector<ScriptSymbol> result;
  for (const std::size_t call : calls) result.push_back({self.world, self.model->calls()[call].symbol});
  return result;
}
/// Empty while the input's shape is not known.
std::vector<ScriptSymbol> inputs(const ScriptModel& self) {
  return symbols(self, self.model->inputs());
}
std::vector<ScriptSymbol> outputs(const ScriptModel& self) {
  return symbols(self, self.model->outputs());
}

std::vector<Tensor> tensors(const ScriptModel& self, const std::vector<VariablePtr>& variables) {
  std::vector<Tensor> result;
  for (const VariablePtr& variable : variables) result.push_back(self.world->dispatcher.variable(variable));
  return result;
}

/// Whether any layer is trained.
bool model_trainable(const ScriptModel& self) {
  return std::ranges::any_of(self.model->layers(), [](const LayerPtr& layer) { return layer->trainable(); });
}

void set_model_trainable(const ScriptModel& self, bool trainable) {
  for (const LayerPtr& layer : self.model->layers()) layer->set_trainable(trainable);
}

std::vector<Tensor> trainable_variables(const ScriptModel& self) {
  return tensors(self, self.model->trainable_variables());
}

std::vector<Tensor> variables(const ScriptModel& self) {
  return tensors(self, self.model->variables());
}

std::vector<Tensor> losses(const ScriptModel& self) {
  return all_losses(*self.world, self.losses, self.model->layers());
}

std::vector<Tensor> non_trainable_variables(const ScriptModel& self) {
  return tensors(self, without(self.model->variables(), self.model->trainable_variables()));
}

struct CountOptions {
  std::optional<bool> trainable;
  static constexpr auto fields = std::tuple{field("trainable", &CountOptions::trainable)};
};

/// All of them; `trainable`: those that training updates, or the others.
std::int64_t count_params(const ScriptModel& self, const CountOptions& options) {
  const auto count = [](const std::vector<VariablePtr>& variables) {
    std::int64_t total = 0;
    for (const VariablePtr& variable : variables) total += variable->type.elements();
    return total;
  };
  const std::int64_t all = count(self.model->variables());
  if (!options.trainable) return all;
  const std::int64_t trained = count(self.model->trainable_variables());
  return *options.trainable ? trained : all - trained;
}

std::string summary_text(const ScriptModel& self) {
  return summary(*self.model);
}

void print_summary(lua_State* L, const ScriptModel& self) {
  lua_getglobal(L, "print");
  std::string text = summary(*self.model);
  text.pop_back();  // print ends the line
  Value<std::string>::push(L, text);
  lua_call(L, 1, 0);
}

/// Copies of the weights as tensors, in the order of `variables`.
std::vector<Tensor> get_weights(const ScriptModel& self) {
  return read_tensors(*self.world, self.model->variables());
}

void set_weights(lua_State* L, ScriptModel& self, const std::vector<TensorLike>& values) {
  write_weights(self.world->runtime, *self.model, host_tensors(L, values));
}

void save(lua_State* L, const ScriptModel& self, const std::string& path) {
  save_model(self.world->runtime, *self.model, output_folder(L, path, "Model:save"));
}

void save_weights_to(lua_State* L, const ScriptModel& self, const std::string& path) {
  save_weights(self.world->runtime, *self.model, output_path(L, path, "Model:save_weights"));
}

struct LoadOptions {
  std::map<std::string, std::variant<std::shared_ptr<ScriptLayer>, LuaFunction>> custom_objects;
  static constexpr auto fields = std::tuple{field("custom_objects", &LoadOptions::custom_objects)};
};

/// Functions of layers: operators by their names, functions of scripts from custom_objects.
FindFunction function_finder(lua_State* L, const LoadOptions& options) {
  return [L, &options](const std::string& layer, const std::string& stored) {
    if (const LayerFunctionPtr native = stored_native_call(L, layer, stored)) return native;
    const auto given = options.custom_objects.find(layer);
    const bool is_custom = parse_json(stored, "a layer's function").find("custom") != nullptr;
    if (given == options.custom_objects.end()) {
      throw Error(
          fmt::format("layer '{}' needs a function of the script that made it, {}; give it by gb.load_model(path, {{ "
                      "custom_objects = {{ {} = {} }} }})",
                      layer, stored, layer, is_custom ? "a layer that gb.layers.custom makes" : "the function"));
    }
    if (const auto* const function = std::get_if<LuaFunction>(&given->second); function != nullptr && !is_custom) {
      return lambda_function(*function);
    }
    const auto* const like = std::get_if<std::shared_ptr<ScriptLayer>>(&given->second);
    if (is_custom && like != nullptr && (*like)->layer->kind() == "custom") {
      return (*like)->layer->config().function("function");
    }
    throw Error(fmt::format("custom_objects: layer '{}' needs {}", layer,
                            is_custom ? "a layer that gb.layers.custom makes" : "a function"));
  };
}

ModelHandle load(lua_State* L, const std::string& path, const LoadOptions& options) {
  Session& session = session_of(L);
  const WorldPtr& world = session.placement.world();
  StoreVariables factory = variables_of(session, *world);
  return make_script_model(
      L, world, load_model(world->runtime, factory, path, world->dispatcher.device(), function_finder(L, options)));
}

std::string model_to_json(const ScriptModel& self) {
  return architecture_to_json(*self.model);
}

/// With weights of its own.
ModelHandle model_from_json(lua_State* L, const std::string& json, const LoadOptions& options) {
  const WorldPtr& world = session_of(L).placement.world();
  return make_script_model(L, world,
                           architecture_from_json(json, world->dispatcher.device(), function_finder(L, options)));
}

std::string text(const ScriptModel& self) {
  return fmt::format("Model {} ({} layers)", self.model->name(), self.model->layers().size());
}

}  // namespace

void open_model(lua_State* L) {
  Class<ScriptModel>(L)
      .property<&name>("name")
      .property<&inputs>("inputs")
      .property<&outputs>("outputs")
      .property<&layers>("layers")
      .method<&get_layer>("get_layer")
      .method<&add_to_sequential>("add")
      .method<&pop_from_sequential>("pop")
      .property<&variables>("variables")
      .property<&variables>("weights")
      .property<&trainable_variables>("trainable_variables")
      .property<&trainable_variables>("trainable_weights")
      .property<&non_trainable_variables>("non_trainable_variables")
      .property<&non_trainable_variables>("non_trainable_weights")
      .property<&losses>("losses")
      .property<&model_trainable, &set_model_trainable>("trainable")
      .property<&optimizer_of>("optimizer")
      .property<&train_step_of, &set_train_step>("train_step")
      .property<&test_step_of, &set_test_step>("test_step")
      .method<&compute_model_loss, 4>("compute_loss")
      .call<&call_model, any_number>()
      .meta<&text>("__tostring")
      .method<&compile_model, 1>("compile")
      .method<&fit_model, 3>("fit")
      .method<&evaluate_model, 3>("evaluate")
      .method<&predict_model, 2>("predict")
      .method<&train_model_on_batch, 2>("train_on_batch")
      .method<&test_model_on_batch, 2>("test_on_batch")
      .method<&predict_model_on_batch, 1>("predict_on_batch")
      .method<&model_memory, 1>("memory")
      .method<&profile_model, 2>("profile")
      .method<&print_summary>("summary")
      .method<&summary_text>("summary_text")
      .method<&count_params>("count_params")
      .method<&get_weights>("get_weights")
      .method<&set_weights>("set_weights")
      .method<&model_to_json>("to_json")
      .method<&save>("save")
      .method<&save_weights_to>("save_weights")
      .method<&load_model_weights, 1>("load_weights");
  Module::root(L)
      .function<&functional>("Model")
      .function<&load>("load_model")
      .function<&model_from_json>("model_from_json");
}

}  // namespace gpubench::lua
