#include "core/nn/symbol.h"

namespace gpubench {

Symbol::Symbol(LayerPtr layer, std::vector<SymbolPtr> inputs) : layer_(std::move(layer)), inputs_(std::move(inputs)) {
  std::vector<TensorType> types;
  for (const SymbolPtr& input : inputs_) types.push_back(input->type());
  type_ = layer_->infer(types);
}

SymbolPtr apply_layer(const LayerPtr& layer, std::vector<SymbolPtr> inputs) {
  return std::make_shared<const Symbol>(layer, std::move(inputs));
}

}  // namespace gpubench
