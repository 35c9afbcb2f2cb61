// Applies a function to every element. Its inputs are read where they lie, and a batch that follows has the results
// written straight into its rows.
//
//   map(digits, function)
#pragma once
#include <memory>

#include "core/data/dataset.h"
#include "core/data/element_function.h"

namespace gpubench {

/// Throws what the function throws for the source's element types.
DatasetPtr map(DatasetPtr source, std::shared_ptr<const ElementFunction> function);

}  // namespace gpubench
