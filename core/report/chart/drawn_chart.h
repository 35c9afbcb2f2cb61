// A chart as pages show it.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "core/report/text/table.h"

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
  /// Which measured points it lacks, and why; empty if it has all.
  std::string left_out = {};
  /// Its figures, perhaps only the first of `all_figures`.
  Table figures = {};
  std::size_t all_figures = 0;
  /// Its files.
  std::vector<PageLink> links = {};
  /// Whether it shows 95 % intervals, and rings around figures that are unreliable.
  bool has_intervals = false, has_rings = false;
  bool is_wide = false;  ///< takes a page's whole width
};

}  // namespace gpubench
