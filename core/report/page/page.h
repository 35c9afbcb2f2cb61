// Self-contained web pages: styles, charts and a short script, which sorts tables, are inline. Nothing is loaded, and
// the pages are complete without the script.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "core/report/chart/drawn_chart.h"
#include "core/results/run_reader.h"

namespace gpubench {

/// `warnings`, `expectations` and `notes` are read from run.json.
std::string report_page(const Run& run, const std::vector<DrawnChart>& charts);

/// One table of all runs below a results folder, newest first; links to their reports are relative to it.
std::string index_page(std::vector<RunSummary> runs);

}  // namespace gpubench
