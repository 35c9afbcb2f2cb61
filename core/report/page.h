// Self-contained web pages: styles, charts and a short script, which sorts tables, are inline. Nothing is loaded, and
// the pages are complete without the script.
#pragma once
#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "core/report/table.h"
#include "core/results/run_reader.h"

namespace gpubench {

struct PageLink {
  std::string name;
  std::string link;
  /// The name under which a link that holds its file is saved.
  std::string download = {};
};

/// A chart on the page.
struct DrawnChart {
  std::string title;
  /// Its complete SVG document; empty where it could not be drawn.
  std::string svg;
  /// What it shows, in a sentence.
  std::string description = {};
  /// Its figures, perhaps only the first of `all_figures`.
  Table figures = {};
  std::size_t all_figures = 0;
  /// Its files.
  std::vector<PageLink> links = {};
  /// Whether it shows 95 % intervals, and rings around figures that are unreliable.
  bool has_intervals = false, has_rings = false;
};

/// `warnings`, `expectations` and `notes` are read from run.json.
std::string report_page(const Run& run, const std::vector<DrawnChart>& charts);

/// One table of all runs below a results folder, newest first; links to their reports are relative to it.
std::string index_page(std::vector<RunSummary> runs);

}  // namespace gpubench
