// The profiles of a run on its page: per profiled point a chart like a flame graph, whose widths are times of a step,
// and a table. Read from the run's files, so that a page made later shows them too.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "core/report/chart/drawn_chart.h"
#include "core/results/info.h"

namespace gpubench {

/// An SVG of four rows: the step; roles and classes; layers; ops. `profile`: as profile_info() makes it.
std::string flame_chart(const Info& profile, const std::string& title);

/// One for each profile-*.json in `directory`, by name, and before it a typical step of a trace. A file that is no
/// profile becomes a note.
std::vector<DrawnChart> profile_charts(const std::filesystem::path& directory, std::vector<std::string>& notes);

}  // namespace gpubench
