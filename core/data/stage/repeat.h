// Repeats the source. Each repetition is a new epoch of the source, so a shuffle before it draws a new order.
//
//   repeat(digits, 5)   repeat(digits)  // for ever
#pragma once
#include "core/data/dataset.h"

namespace gpubench {

/// Throws Error if `count` is below 1; a cursor throws when the source turns out to be empty.
DatasetPtr repeat(DatasetPtr source, std::int64_t count = endless);

}  // namespace gpubench
