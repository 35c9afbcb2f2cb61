// Charts of a trend: figures by the number of the run, with the places of reported changes.
#pragma once
#include <string>
#include <vector>

#include "core/report/chart/chart.h"
#include "core/results/info.h"

namespace gpubench {

/// One for each figure of a device, with a line for each setting. `series`: of a trend (core/history/trend.h).
std::vector<Chart> trend_charts(const std::vector<const Info*>& series);

/// "dtype=bfloat16 on gpu:0 of vm, suite hardware".
std::string place_of_series(const Info& series);
/// With the unit, direction and kind that the history keeps.
Column column_of_series(const Info& series);

}  // namespace gpubench
