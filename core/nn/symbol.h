// A value of a model that is being described: `layer(symbol)` makes the next one. Models are cut out of the web of
// symbols between their inputs and outputs.
#pragma once
#include <memory>
#include <span>
#include <vector>

#include "core/nn/layer.h"

namespace gpubench {

class Symbol;
using SymbolPtr = std::shared_ptr<const Symbol>;

class Symbol {
 public:
  /// The output of `layer` applied to `inputs`; throws what Layer::infer throws.
  Symbol(LayerPtr layer, std::vector<SymbolPtr> inputs);

  const LayerPtr& layer() const { return layer_; }
  const std::vector<SymbolPtr>& inputs() const { return inputs_; }
  /// Type of one example.
  const TensorType& type() const { return type_; }

 private:
  LayerPtr layer_;
  std::vector<SymbolPtr> inputs_;
  TensorType type_;
};

SymbolPtr apply_layer(const LayerPtr& layer, std::vector<SymbolPtr> inputs);

}  // namespace gpubench
