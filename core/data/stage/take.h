// The first elements of the source.
//
//   take(digits, 1000)
#pragma once
#include "core/data/dataset.h"

namespace gpubench {

/// Throws Error when `count` is below 1.
DatasetPtr take(DatasetPtr source, std::int64_t count);

}  // namespace gpubench
