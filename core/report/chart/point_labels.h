// Where the labels of a chart's points stand, so that they cover neither each other nor points, lines and intervals.
#pragma once
#include <string>
#include <vector>

#include "core/report/chart/chart.h"

namespace gpubench {

struct PointLabel {
  /// The point, in the units of the axes.
  double x = 0, y = 0;
  std::string text;
  /// From the point, in characters and lines.
  double right = 0, up = 0;
  /// -1: the text ends there, 0: its middle is there, 1: it begins there.
  int side = 1;
};

/// A label without room is left out where the key names its series.
std::vector<PointLabel> place_labels(const Chart& chart);

}  // namespace gpubench
