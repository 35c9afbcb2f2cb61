// Charts of a page that stands alone: they are drawn in a folder that goes away, and the page has the gnuplot files.
#pragma once
#include <vector>

#include "core/report/chart/draw.h"

namespace gpubench {

/// As draw(); the links of the charts hold the files themselves.
Drawing draw_embedded(const Run& run, const std::vector<ChartSpec>& specs);
Drawing draw_embedded(std::vector<Chart> charts);

}  // namespace gpubench
