// The change of a time or a rate in one figure: how much more or less time the same work takes. A rate of half is twice
// the time, so that step time and examples/s say the same of a change.
#pragma once
#include <cmath>
#include <fmt/format.h>
#include <string>

#include "core/results/column.h"

namespace gpubench {

/// New over old time of the same work. Both figures are above 0.
inline double time_ratio(const Column& column, double before, double after) {
  return column.better == Better::lower ? after / before : before / after;
}

/// A number of percent or points without its sign. Where it is large, digits behind the point say nothing; below 0.1 a
/// second one does.
inline std::string amount_text(double percent) {
  constexpr double large = 1e6, small = 0.095;
  return percent < large ? fmt::format("{:.{}f}", percent, percent < small ? 2 : 1) : fmt::format("{:.3g}", percent);
}

/// "takes 47.6 % less time", "takes 0.05 % more time".
inline std::string speed_text(double time_ratio) {
  return fmt::format("takes {} % {} time", amount_text(100 * std::abs(time_ratio - 1)),
                     time_ratio > 1 ? "more" : "less");
}

}  // namespace gpubench
