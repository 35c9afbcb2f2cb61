// Ranges and ticks of a chart's axes, as commands of gnuplot.
#pragma once
#include <cstddef>
#include <string>

#include "core/report/chart/chart.h"

namespace gpubench {

/// Characters that fit beside each other in the width of a chart.
inline constexpr std::size_t chart_characters = 58;

/// What an axis covers, with its margins; for a logarithmic one the ends are above zero.
struct AxisRange {
  double low = 0, high = 1;
  bool is_logarithmic = false;

  /// From 0 at the low end to 1 at the high one.
  double share_of(double value) const;
};

AxisRange x_range(const Chart& chart);
AxisRange y_range(const Chart& chart);
std::string x_axis_commands(const Chart& chart);
std::string y_axis_commands(const Chart& chart);
/// Of a chart of intervals: figures across, names down the side, the first one on top.
std::string interval_axes_commands(const Chart& chart);

/// Whether labels of categories would overlap; they are slanted then.
bool is_crowded(const Chart& chart);
/// A whole number in full while that is short; three digits of any other.
std::string number_text(double value);

}  // namespace gpubench
