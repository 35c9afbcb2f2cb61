// The source without its first elements.
//
//   skip(digits, 1000)
#pragma once
#include "core/data/dataset.h"

namespace gpubench {

/// Throws Error when `count` is negative or when it is known that nothing would be left.
DatasetPtr skip(DatasetPtr source, std::int64_t count);

}  // namespace gpubench
