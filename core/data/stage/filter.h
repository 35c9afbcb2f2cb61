// The elements for which a function returns true: all of them, or those before the first other one. Rows of tensors
// stay rows: a following shuffle or batch gets their numbers, and only rows that pass are copied.
//
//   filter(digits, is_bright)   take_while(numbers, is_below_100)
#pragma once
#include <memory>

#include "core/data/dataset.h"
#include "core/data/function/element_function.h"

namespace gpubench {

/// Throws Error unless the function returns one bool.
DatasetPtr filter(DatasetPtr source, std::shared_ptr<const ElementFunction> predicate);

/// The epoch ends before the first element that does not pass. Throws as filter().
DatasetPtr take_while(DatasetPtr source, std::shared_ptr<const ElementFunction> predicate);

}  // namespace gpubench
