// The elements that no earlier one of the epoch equals. All different ones are kept in memory for that.
//
//   unique(words)
#pragma once
#include "core/data/dataset.h"

namespace gpubench {

/// Throws Error unless an element is one tensor of integers (a byte string among them).
DatasetPtr unique(DatasetPtr source);

}  // namespace gpubench
