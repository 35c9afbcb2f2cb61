#include "core/train/compress/rebuilt_model.h"

#include <algorithm>
#include <vector>

#include "core/nn/layer_kind.h"

namespace gpubench {
namespace {

class Rebuilding {
 public:
  Rebuilding(const Model& model, const std::function<ConfigEntries(const Layer&)>& options_of,
             const SkippedCalls& skipped)
      : model_(model), options_of_(options_of), skipped_(skipped) {}

  ModelPtr chain() {
    std::vector<LayerPtr> layers;
    for (std::size_t i = 1; i < model_.calls().size(); ++i) {
      if (!skipped_.contains(i)) layers.push_back(layer_of(*model_.calls()[i].layer));
    }
    auto made = std::make_shared<Model>(model_.name(), std::move(layers));
    made->define(model_.input_types());
    return made;
  }

  ModelPtr web() {
    std::vector<SymbolPtr> symbols;
    Reapplication again;
    for (std::size_t i = 0; i < model_.calls().size(); ++i) {
      const Model::Call& call = model_.calls()[i];
      if (const auto instead = skipped_.find(i); instead != skipped_.end()) {
        symbols.push_back(symbols[instead->second]);
        continue;
      }
      std::vector<SymbolPtr> inputs;
      for (const std::size_t input : call.inputs) inputs.push_back(symbols[input]);
      symbols.push_back(
          again.apply(call.application, call.output, layer_of(*call.layer), std::move(inputs), call.form));
    }
    const auto select = [&](const std::vector<std::size_t>& indices) {
      std::vector<SymbolPtr> selected;
      for (const std::size_t index : indices) selected.push_back(symbols[index]);
      return selected;
    };
    std::vector<LayerPtr> order;
    for (const LayerPtr& layer : model_.layers()) {
      if (const auto made = made_.find(layer.get()); made != made_.end()) order.push_back(made->second);
    }
    return std::make_shared<Model>(model_.name(), select(model_.inputs()), select(model_.outputs()), order,
                                   model_.given_names());
  }

 private:
  LayerPtr layer_of(const Layer& layer) {
    LayerPtr& made = made_[&layer];
    if (made == nullptr) {
      made = make_layer(layer.kind(), options_of_(layer), layer.device());
      made->set_name(layer.name());
    }
    return made;
  }

  const Model& model_;
  const std::function<ConfigEntries(const Layer&)>& options_of_;
  const SkippedCalls& skipped_;
  std::map<const Layer*, LayerPtr> made_;
};

}  // namespace

ModelPtr rebuilt_model(VariableFactory& factory, const Model& model,
                       const std::function<ConfigEntries(const Layer&)>& options_of, const SkippedCalls& skipped) {
  Rebuilding rebuilding(model, options_of, skipped);
  ModelPtr made = model.sequential() ? rebuilding.chain() : rebuilding.web();
  made->build(factory);
  return made;
}

void set_option(ConfigEntries& options, std::string_view name, ConfigValue value) {
  std::ranges::find(options, name, &ConfigEntries::value_type::first)->second = std::move(value);
}

}  // namespace gpubench
