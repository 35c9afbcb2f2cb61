// Random values of any type, as a function of a seed and a position.
#pragma once
#include <cstddef>
#include <cstdint>

#include "core/data/element/counter_random.h"
#include "core/tensor/dtype.h"

namespace gpubench {

/// Writes `count` values, using fewer than count / 2 + 1 draws from position `first` on. Floating values are in [0, 1),
/// integers in [0, classes), uint8 any byte.
using RandomFill = void (*)(std::byte* to, std::int64_t count, const CounterRandom& random, std::uint64_t first,
                            std::int64_t classes);

/// Throws Error for types without random values.
RandomFill random_fill(Dtype dtype);

}  // namespace gpubench
