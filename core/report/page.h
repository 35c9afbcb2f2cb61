// Web pages that need nothing but themselves: styles and charts are inside, scripts there are none.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "core/results/run_reader.h"

namespace gpubench {

/// A drawn chart: its title and its whole SVG document.
struct DrawnChart {
  std::string title;
  std::string svg;
};

/// `expectations` and `notes` are read from run.json.
std::string report_page(const Run& run, const std::vector<DrawnChart>& charts);

/// Of all runs below a results folder; links to their reports are relative to it.
std::string index_page(const std::vector<RunSummary>& runs);

}  // namespace gpubench
