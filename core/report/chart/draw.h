// Draws the charts of a run into its folder of plots. A chart that cannot be drawn becomes a note and costs no other.
#pragma once
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "core/report/chart/chart.h"
#include "core/report/chart/chart_format.h"
#include "core/report/chart/drawn_chart.h"
#include "core/results/run_reader.h"

namespace gpubench {

struct Drawing {
  std::vector<DrawnChart> charts;
  std::vector<std::string> notes;
  /// Of run.json: the charts for which there is data.
  Info::List info;
};

/// Writes NAME.gp and NAME.svg, and NAME.png and NAME.pdf where `formats` has them, into `directory`. The page embeds
/// SVG, which is always drawn.
Drawing draw(const Run& run, const std::vector<ChartSpec>& specs, const std::filesystem::path& directory,
             const ChartFormats& formats);
/// The same for charts that are made already.
Drawing draw(std::vector<Chart> charts, const std::filesystem::path& directory, const ChartFormats& formats);

/// The charts of a page that is made again, in the order of run.json, with pictures that are drawn already; writes
/// nothing. `files`: the chart's files by their names; `directory`: where the page's links find them.
std::vector<DrawnChart> drawn_before(const Run& run, const std::map<std::string, std::string>& files,
                                     const std::filesystem::path& directory);

}  // namespace gpubench
