// What a chart shows as facts in run.json, so that a run can be drawn without the script that declared it.
#pragma once
#include <vector>

#include "core/report/chart/chart.h"
#include "core/results/info.h"

namespace gpubench {

Info chart_info(const ChartSpec& spec);
/// Of run.json's "charts". Throws Error for one that chart_info() has not made.
std::vector<ChartSpec> charts_in(const Info& info);
/// Of run.json's "axes", or of "axis_names" for a run without these.
std::vector<ChartAxis> chart_axes_in(const Info& info);

}  // namespace gpubench
