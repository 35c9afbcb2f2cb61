// Applications of layers and their outputs: models under construction.
#include <algorithm>
#include <fmt/format.h>
#include <utility>

#include "core/nn/model.h"

namespace gpubench {

Application::Application(LayerPtr of, std::vector<SymbolPtr> arguments, CallForm how,
                         std::shared_ptr<const NestedCall> call_of_model)
    : layer(std::move(of)), inputs(std::move(arguments)), form(std::move(how)), nested_call(std::move(call_of_model)) {
  std::vector<TensorType> given;
  std::vector<std::optional<TensorType>> came_with;
  for (const SymbolPtr& input : inputs) {
    given.push_back(input->type());
    came_with.push_back(input->mask());
  }
  types = layer->infer(given, form);
  const bool masked = std::ranges::any_of(came_with, [](const auto& mask) { return mask.has_value(); });
  if (masked || !form.masks.empty() || layer->mask_rule() == MaskRule::makes) {
    masks = layer->infer_masks(given, form, came_with);
  }
  masks.resize(types.size());
}

Application::~Application() {
  std::vector<SymbolPtr> owned = std::move(inputs);
  while (!owned.empty()) {
    const SymbolPtr symbol = std::move(owned.back());
    owned.pop_back();
    if (symbol.use_count() > 1 || symbol->application().use_count() > 1) continue;
    std::vector<SymbolPtr>& further = symbol->application()->inputs;
    for (SymbolPtr& input : further) owned.push_back(std::move(input));
    further.clear();
  }
}

SymbolPtr apply_layer(const LayerPtr& layer, std::vector<SymbolPtr> inputs, const CallForm& form) {
  return std::make_shared<const Symbol>(std::make_shared<const Application>(layer, std::move(inputs), form), 0);
}

std::vector<SymbolPtr> outputs_of(const ApplicationPtr& application) {
  std::vector<SymbolPtr> outputs;
  for (std::size_t i = 0; i < application->types.size(); ++i) {
    outputs.push_back(std::make_shared<const Symbol>(application, static_cast<int>(i)));
  }
  return outputs;
}

SymbolPtr mask_of(const ApplicationPtr& application) {
  if (!application->masks.front()) return nullptr;
  return std::make_shared<const Symbol>(application, Symbol::mask_output);
}

SymbolPtr Reapplication::apply(std::size_t application, int output, const LayerPtr& layer,
                               std::vector<SymbolPtr> inputs, const CallForm& form) {
  ApplicationPtr& made = made_[application];
  if (made == nullptr) made = std::make_shared<const Application>(layer, std::move(inputs), form, nested_call_);
  const bool known = output == Symbol::mask_output ? made->masks.front().has_value()
                                                   : output >= 0 && output < static_cast<int>(made->types.size());
  if (known) return std::make_shared<const Symbol>(made, output);
  layer->fail(output == Symbol::mask_output
                  ? "its output has no mask here"
                  : fmt::format("has {} outputs, and output {} is used", made->types.size(), output + 1));
}

}  // namespace gpubench
