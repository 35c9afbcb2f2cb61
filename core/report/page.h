// Self-contained web pages: styles and charts are inline, and there are no scripts.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "core/results/run_reader.h"

namespace gpubench {

/// A drawn chart: its title and its complete SVG document.
struct DrawnChart {
  std::string title;
  std::string svg;
};

/// `warnings`, `expectations` and `notes` are read from run.json.
std::string report_page(const Run& run, const std::vector<DrawnChart>& charts);

/// Lists all runs below a results folder; links to their reports are relative to it.
std::string index_page(const std::vector<RunSummary>& runs);

}  // namespace gpubench
