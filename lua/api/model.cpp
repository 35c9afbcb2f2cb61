// gb.Sequential, gb.Model, gb.load_model and the class Model.
#include "lua/api/model.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fmt/format.h>

#include "core/base/error.h"
#include "core/train/model_files.h"
#include "lua/api/openers.h"
#include "lua/api/output_path.h"
#include "lua/api/tensor.h"

namespace gpubench::lua {
namespace {

using ModelHandle = std::shared_ptr<ScriptModel>;
using Symbols = std::variant<ScriptSymbol, std::vector<ScriptSymbol>>;

/// Makes the variables at once when the input's shape is known, so that the seeds follow the order of the script.
ModelHandle make_script_model(lua_State* L, const WorldPtr& world, ModelPtr model) {
  auto made = std::make_shared<ScriptModel>(session_of(L), world, std::move(model));
  if (made->model->defined()) made->model->build(made->variables);
  return made;
}

struct SequentialOptions {
  std::vector<std::variant<std::shared_ptr<ScriptLayer>, ScriptSymbol>> layers;
  std::string name = "sequential";
  static constexpr auto fields =
      std::tuple{positional("layers", &SequentialOptions::layers), field("name", &SequentialOptions::name)};
};

/// gb.Sequential { layer, layer, ..., name = "m" }
ModelHandle sequential(lua_State* L, const SequentialOptions& options) {
  std::vector<LayerPtr> layers;
  for (const auto& entry : options.layers) {
    if (const auto* layer = std::get_if<std::shared_ptr<ScriptLayer>>(&entry)) {
      layers.push_back((*layer)->layer);
    } else {
      const SymbolPtr& symbol = std::get<ScriptSymbol>(entry).symbol;
      if (!symbol->inputs().empty())
        throw Error("gb.Sequential: takes layers and at first an Input, got a layer's output");
      layers.push_back(symbol->layer());
    }
  }
  return make_script_model(L, session_of(L).world(), std::make_shared<Model>(options.name, std::move(layers)));
}

std::vector<SymbolPtr> symbols_of(const Symbols& symbols) {
  std::vector<SymbolPtr> result;
  if (const auto* one = std::get_if<ScriptSymbol>(&symbols)) return {one->symbol};
  for (const ScriptSymbol& symbol : std::get<std::vector<ScriptSymbol>>(symbols)) result.push_back(symbol.symbol);
  return result;
}

struct ModelOptions {
  Symbols inputs, outputs;
  std::string name = "model";
  static constexpr auto fields =
      std::tuple{required("inputs", &ModelOptions::inputs), required("outputs", &ModelOptions::outputs),
                 field("name", &ModelOptions::name)};
};

/// gb.Model { inputs = symbol or list, outputs = symbol or list }
ModelHandle functional(lua_State* L, const ModelOptions& options) {
  return make_script_model(
      L, session_of(L).world(),
      std::make_shared<Model>(options.name, symbols_of(options.inputs), symbols_of(options.outputs)));
}

void define_by(Model& model, std::span<const Tensor> inputs) {
  if (model.defined()) return;
  if (inputs.empty()) throw Error(fmt::format("model '{}': expects a tensor, got an empty list", model.name()));
  const TensorType& type = inputs.front().type();
  if (type.shape.empty()) {
    throw Error(
        fmt::format("model '{}': expects tensors with a batch dimension, got {}", model.name(), to_string(type)));
  }
  const TensorType example{Shape(type.shape.begin() + 1, type.shape.end()), type.dtype};
  model.define(std::span(&example, 1));
}

bool draws(const Model& model) {
  const std::vector<LayerPtr> layers = model.layers();
  return std::any_of(layers.begin(), layers.end(), [](const LayerPtr& layer) { return layer->draws(); });
}

/// model(x): a layer of another model when x is symbolic, the outputs when it is a tensor.
int call_model(lua_State* L) {
  const auto self = Value<ModelHandle>::read(L, 1);
  if (are_symbols(L, 2)) {
    std::vector<SymbolPtr> inputs;
    for (const ScriptSymbol& symbol : read_one_or_more<ScriptSymbol>(L, 2)) inputs.push_back(symbol.symbol);
    std::vector<ScriptSymbol> outputs;
    for (const SymbolPtr& symbol : self->model->apply(inputs)) outputs.push_back({self->world, symbol});
    push_one_or_more(L, std::move(outputs));
    return 1;
  }
  const auto inputs = read_one_or_more<Tensor>(L, 2);
  const bool training = Value<CallOptions>::read(L, 3).training;
  define_by(*self->model, inputs);
  self->model->build(self->variables);
  const bool random = training && draws(*self->model);
  const CallVariant variant = variant_of_call(self->world->dispatcher, inputs, training, random);
  const auto build = [&](Graph& graph, std::span<const gpubench::Value> values) {
    CallContext context{
        .graph = graph, .training = training, .first_row = variant.first_row, .replica = variant.replica};
    if (random) context.step = self->counter.count(graph, *self->world);
    return self->model->call(context, values);
  };
  push_one_or_more(L, self->calls.apply(self->world->dispatcher, inputs, variant, build));
  return 1;
}

std::string name(const ScriptModel& self) {
  return self.model->name();
}

std::vector<std::shared_ptr<ScriptLayer>> layers(const ScriptModel& self) {
  std::vector<std::shared_ptr<ScriptLayer>> result;
  for (const LayerPtr& layer : self.model->layers()) {
    result.push_back(std::make_shared<ScriptLayer>());
    result.back()->world = self.world;
    result.back()->layer = layer;
  }
  return result;
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

std::int64_t count_params(const ScriptModel& self) {
  std::int64_t total = 0;
  for (const VariablePtr& variable : self.model->variables()) total += variable->type.elements();
  return total;
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
  std::vector<Tensor> result;
  for (const HostTensor& value : read_weights(self.world->runtime, *self.model)) {
    result.push_back(self.world->dispatcher.eager().upload(value, self.world->dispatcher.device(), "weights"));
  }
  return result;
}

void set_weights(lua_State* L, ScriptModel& self, const std::vector<TensorLike>& values) {
  std::vector<HostTensor> weights;
  for (const TensorLike& value : values) weights.push_back(download(L, value.tensor));
  write_weights(self.world->runtime, *self.model, weights);
}

void save(lua_State* L, const ScriptModel& self, const std::string& path) {
  save_model(self.world->runtime, *self.model, output_folder(L, path, "Model:save"));
}

void save_weights_to(lua_State* L, const ScriptModel& self, const std::string& path) {
  save_weights(self.world->runtime, *self.model, output_path(L, path, "Model:save_weights"));
}

ModelHandle load(lua_State* L, const std::string& path) {
  Session& session = session_of(L);
  const WorldPtr& world = session.world();
  StoreVariables factory = variables_of(session, *world);
  return make_script_model(L, world, load_model(world->runtime, factory, path, world->dispatcher.device()));
}

std::string text(const ScriptModel& self) {
  return fmt::format("Model {} ({} layers)", self.model->name(), self.model->layers().size());
}

}  // namespace

void open_model(lua_State* L) {
  Class<ScriptModel>(L)
      .property<&name>("name")
      .property<&layers>("layers")
      .property<&variables>("variables")
      .property<&trainable_variables>("trainable_variables")
      .property<&model_trainable, &set_model_trainable>("trainable")
      .meta<&call_model>("__call")
      .meta<&text>("__tostring")
      .method<&compile_model>("compile")
      .method<&fit_model>("fit")
      .method<&evaluate_model>("evaluate")
      .method<&predict_model>("predict")
      .method<&model_memory>("memory")
      .method<&profile_model>("profile")
      .method<&print_summary>("summary")
      .method<&summary_text>("summary_text")
      .method<&count_params>("count_params")
      .method<&get_weights>("get_weights")
      .method<&set_weights>("set_weights")
      .method<&save>("save")
      .method<&save_weights_to>("save_weights")
      .method<&load_model_weights>("load_weights");
  Module::root(L).function<&sequential>("Sequential").function<&functional>("Model").function<&load>("load_model");
}

}  // namespace gpubench::lua
