// The script that draws a chart. It is kept beside the picture, holds the chart's data, and needs only the shared
// style.
#pragma once
#include <string>

#include "core/report/chart.h"

namespace gpubench {

/// Loads the style from two folders up and writes "<name>.svg" into its own folder.
std::string gnuplot_script(const Chart& chart);

}  // namespace gpubench
