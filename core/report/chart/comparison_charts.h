// Charts of a comparison: changes with their intervals, and the processes behind those that are worse.
#pragma once
#include <span>
#include <vector>

#include "core/compare/comparison.h"
#include "core/report/chart/chart.h"

namespace gpubench {

/// The changes, those for the worse on top, and the processes of what was called different, as points. Empty where
/// nothing can be drawn. A change for the worse is positive, whatever the direction of its figure; the change of a
/// figure without a direction is as it is. Of very many changes the largest are drawn.
std::vector<Chart> comparison_charts(const Comparison& comparison);

}  // namespace gpubench
