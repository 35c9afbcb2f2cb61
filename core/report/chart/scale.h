// The unit of an axis: one prefix for all its numbers, chosen by the largest, so that tick labels stay short.
#pragma once
#include <string>

#include "core/results/column.h"

namespace gpubench {

struct AxisScale {
  /// Multiplies plain values.
  double factor = 1;
  /// "step time (µs)", "examples/s (thousand)".
  std::string label;
};

/// The column's heading, with the word that its unit takes away: "message bytes".
std::string quantity_of(const Column& column);
AxisScale axis_scale(const Column& column, double largest);

}  // namespace gpubench
