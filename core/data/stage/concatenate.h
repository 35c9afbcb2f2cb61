// One dataset after the other.
//
//   concatenate(digits, more_digits)
#pragma once
#include "core/data/dataset.h"

namespace gpubench {

/// Extents that differ vary. Throws Error when the elements differ otherwise, and when the first never ends.
DatasetPtr concatenate(DatasetPtr first, DatasetPtr second);

}  // namespace gpubench
