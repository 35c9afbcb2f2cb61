// One step of a trace as a picture: a row for each stream of a device, and one for why it had no work.
#pragma once
#include <string>
#include <vector>

#include "core/report/chart/drawn_chart.h"
#include "core/results/info.h"

namespace gpubench {

/// An SVG. `step`: as typical_step() of core/traces makes it. Throws Error for another.
std::string timeline_chart(const Info& step, const std::string& title);

}  // namespace gpubench
