// Charts of a trend: figures by the number of the run, with the places of reported changes.
#pragma once
#include <string>
#include <vector>

#include "core/history/trend.h"
#include "core/report/chart/chart.h"

namespace gpubench {

/// One for each figure of a device, with a line for each setting.
std::vector<Chart> trend_charts(const std::vector<const SeriesTrend*>& series);

/// "dtype=bfloat16 on gpu:0 of vm, suite hardware".
std::string place_of_series(const SeriesKey& key);

}  // namespace gpubench
