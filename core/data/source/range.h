// Integers as elements: int64 scalars start, start + step, ... before stop.
//
//   range(0, 10)       // 0 to 9
//   range(0, endless)  // never ends
#pragma once
#include "core/data/dataset.h"

namespace gpubench {

/// Throws Error if the step is 0.
DatasetPtr range(std::int64_t start, std::int64_t stop, std::int64_t step = 1);

}  // namespace gpubench
