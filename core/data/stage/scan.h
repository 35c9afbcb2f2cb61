// Functions that pass a state from each element to the next: new elements from each, or the state behind the last.
//
//   scan(prices, {zero}, running_sum)   // (state, element) -> (new state, new element)
//   reduce(*prices, {zero}, sum)        // (state, element) -> new state
#pragma once
#include <memory>

#include "core/data/dataset.h"
#include "core/data/function/element_function.h"

namespace gpubench {

/// The function gets the state's tensors and then the element's; it gives new ones of the state, and behind them the
/// new element's. Every epoch begins with `initial`. Skipping computes the state all the same. Throws Error unless the
/// state keeps its types, and if nothing follows it.
DatasetPtr scan(DatasetPtr source, Element initial, std::shared_ptr<const ElementFunction> function);

/// The state behind the dataset's next epoch; `initial` if that is empty. Throws Error unless the function gives the
/// state's types.
Element reduce(const Dataset& source, Element initial, std::shared_ptr<const ElementFunction> function);

}  // namespace gpubench
