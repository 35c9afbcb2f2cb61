// The last nights of a machine, for signs that need several.
#pragma once
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "core/measure/stats/quantile.h"

namespace gpubench {

inline constexpr float not_judged = std::numeric_limits<float>::quiet_NaN();

/// The level of a machine is the median of so many nights, and of so many at least.
inline constexpr std::size_t level_nights = 9, fewest_level_nights = 5;

/// The first of at most `count` nights that end with `night`.
inline std::size_t first_of(std::size_t night, std::size_t count) {
  return night + 1 - (night + 1 < count ? night + 1 : count);
}

/// The median of the values of the last nights up to `night`; NaN of too few. `room` is memory to use.
template <class Value>
double level_of(std::size_t night, std::vector<double>& room, Value value) {
  room.clear();
  for (std::size_t i = first_of(night, level_nights); i <= night; ++i)
    if (const double one = value(i); !std::isnan(one)) room.push_back(one);
  return room.size() < fewest_level_nights ? not_judged : median_in_place(room);
}

}  // namespace gpubench
