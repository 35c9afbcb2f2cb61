// The elements for which a function returns true. Rows of tensors stay rows: a shuffle or a batch that follows gets
// their numbers, and only rows that pass are copied.
//
//   filter(digits, is_bright)
#pragma once
#include <memory>

#include "core/data/dataset.h"
#include "core/data/function/element_function.h"

namespace gpubench {

/// Throws Error unless the function gives one bool.
DatasetPtr filter(DatasetPtr source, std::shared_ptr<const ElementFunction> predicate);

}  // namespace gpubench
