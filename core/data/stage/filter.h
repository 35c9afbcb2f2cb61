// The elements for which a function returns true. Rows of tensors stay rows: a following shuffle or batch gets their
// numbers, and only rows that pass are copied.
//
//   filter(digits, is_bright)
#pragma once
#include <memory>

#include "core/data/dataset.h"
#include "core/data/function/element_function.h"

namespace gpubench {

/// Throws Error unless the function returns one bool.
DatasetPtr filter(DatasetPtr source, std::shared_ptr<const ElementFunction> predicate);

}  // namespace gpubench
