// Runs everything before it in a thread of its own, at most `capacity` elements ahead. While the buffer is neither full
// nor empty, neither side enters the kernel.
//
//   prefetch(batch(digits, 32), autotune)
#pragma once
#include "core/data/dataset.h"

namespace gpubench {

/// Lets the stage choose: as many elements as fit 8 MiB, at least 2 and at most 64.
inline constexpr std::int64_t autotune = -1;

/// Throws Error when `capacity` is neither positive nor `autotune`.
DatasetPtr prefetch(DatasetPtr source, std::int64_t capacity = autotune);

}  // namespace gpubench
