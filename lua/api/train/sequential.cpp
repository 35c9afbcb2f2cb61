// gb.Sequential, and Model:add and Model:pop, which put another chain of the same layers under the model's handle.
#include <fmt/format.h>

#include "core/base/error.h"
#include "lua/api/openers.h"
#include "lua/api/train/model.h"

namespace gpubench::lua {
namespace {

struct SequentialOptions {
  std::vector<ChainPart> layers;
  std::string name = "sequential";
  static constexpr auto fields =
      std::tuple{positional("layers", &SequentialOptions::layers), field("name", &SequentialOptions::name)};
};

/// The layers of a chain inside another chain, which has the only Input.
void append_chain(const Model& chain, std::vector<LayerPtr>& layers) {
  for (const LayerPtr& layer : chain.layers()) {
    if (layers.empty() || layer->declared_input() == nullptr) layers.push_back(layer);
  }
}

/// A chain with a functional model in it: applied one after the other, from an Input or the first model's input.
ModelPtr chain_with_models(const std::string& name, const std::vector<ChainPart>& parts) {
  SymbolPtr end, start;
  for (const ChainPart& entry : parts) {
    if (const auto* const symbol = std::get_if<ScriptSymbol>(&entry)) {
      start = end = symbol->symbol;
    } else if (const auto* const model = std::get_if<ModelHandle>(&entry)) {
      const Model& inner = *(*model)->model;
      if (!inner.defined() && end) {
        for (const LayerPtr& layer : inner.layers()) end = apply_layer(layer, {end});
        continue;
      }
      if (inner.inputs().size() != 1 || inner.outputs().size() != 1) {
        throw Error(fmt::format("gb.Sequential: model '{}' has {} inputs and {} outputs; a chain takes one of each",
                                inner.name(), inner.inputs().size(), inner.outputs().size()));
      }
      if (!end) start = end = inner.calls()[inner.inputs()[0]].symbol;
      end = inner.apply({end}).front();
    } else {
      const LayerPtr& layer = std::get<std::shared_ptr<ScriptLayer>>(entry)->layer;
      if (!end) {
        throw Error("gb.Sequential: a chain with a functional model in it starts with an Input or with that model");
      }
      end = apply_layer(layer, {end});
    }
  }
  return std::make_shared<Model>(name, std::vector{start}, std::vector{end});
}

ModelPtr chain_of(const std::string& name, const std::vector<ChainPart>& parts) {
  std::vector<LayerPtr> layers;
  bool functional = false;
  for (const ChainPart& entry : parts) {
    if (const auto* layer = std::get_if<std::shared_ptr<ScriptLayer>>(&entry)) {
      layers.push_back((*layer)->layer);
    } else if (const auto* model = std::get_if<ModelHandle>(&entry)) {
      functional = functional || !(*model)->model->sequential();
      if (!functional) append_chain(*(*model)->model, layers);
    } else {
      const SymbolPtr& symbol = std::get<ScriptSymbol>(entry).symbol;
      if (!symbol->inputs().empty())
        throw Error("gb.Sequential: takes layers and at first an Input, got a layer's output");
      layers.push_back(symbol->layer());
    }
  }
  return functional ? chain_with_models(name, parts) : std::make_shared<Model>(name, std::move(layers));
}

/// gb.Sequential { layer, layer or model, ..., name = "m" }
ModelHandle sequential(lua_State* L, const std::optional<SequentialOptions>& given) {
  const SequentialOptions options = given.value_or(SequentialOptions());
  ModelHandle made = make_script_model(L, session_of(L).placement.world(), chain_of(options.name, options.layers));
  made->parts = options.layers;
  return made;
}

/// Those of a loaded model are its layers.
std::vector<ChainPart> parts_of(const ScriptModel& self, const char* method) {
  if (!self.parts.empty()) return self.parts;
  const Model& model = *self.model;
  if (!model.sequential()) {
    throw Error(
        fmt::format("Model:{}: model '{}' is no Sequential; describe another model by gb.Model {{ inputs = "
                    "model.inputs, outputs = layer(model.outputs[1]) }}",
                    method, model.name()));
  }
  std::vector<ChainPart> parts;
  for (const LayerPtr& layer : model.layers()) {
    auto part = std::make_shared<ScriptLayer>();
    part->world = self.world;
    part->layer = layer;
    parts.emplace_back(std::move(part));
  }
  return parts;
}

/// Layers that are there keep their weights.
void set_parts(ScriptModel& self, std::vector<ChainPart> parts, const char* method) {
  self.trainer()->require_idle(method);
  const ModelPtr changed = chain_of(self.model->name(), parts);
  const std::vector<LayerPtr> layers = changed->layers();
  const bool computes = !layers.empty() && layers.back()->declared_input() == nullptr;
  if (self.model->defined() && !changed->defined() && computes) changed->define(self.model->input_types());
  if (changed->defined()) changed->build(self.variables);
  self.replace(changed);
  self.parts = std::move(parts);
}

}  // namespace

void add_to_sequential(const ModelHandle& self, const ChainPart& part) {
  std::vector<ChainPart> parts = parts_of(*self, "add");
  parts.push_back(part);
  set_parts(*self, std::move(parts), "Model:add");
}

ChainPart pop_from_sequential(const ModelHandle& self) {
  std::vector<ChainPart> parts = parts_of(*self, "pop");
  if (parts.empty()) throw Error(fmt::format("Model:pop: model '{}' has no layers", self->model->name()));
  ChainPart last = std::move(parts.back());
  parts.pop_back();
  set_parts(*self, std::move(parts), "Model:pop");
  return last;
}

void open_sequential(lua_State* L) {
  Module::root(L).function<&sequential>("Sequential");
}

}  // namespace gpubench::lua
