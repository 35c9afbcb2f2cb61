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

/// "takes 47.6 % less time", "takes 0.05 % more time".
inline std::string speed_text(double time_ratio) {
  const double percent = 100 * std::abs(time_ratio - 1);
  return fmt::format("takes {:.{}f} % {} time", percent, percent < 0.095 ? 2 : 1, time_ratio > 1 ? "more" : "less");
}

}  // namespace gpubench
