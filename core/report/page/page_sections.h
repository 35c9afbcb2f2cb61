// Pages made of sections, for results that are no single run: a verdict in front, then sections with text, charts,
// tables and links.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "core/report/page/page.h"
#include "core/report/text/table.h"

namespace gpubench {

struct PageTable {
  std::string caption;
  Table table;
  /// Of each row, the look of its first cell: "refuted" (red), "confirmed" (green), "open" (yellow), or empty.
  std::vector<std::string> looks = {};
  /// Cells that head their row.
  std::size_t heads = 2;
  /// Behind its caption until somebody asks for it.
  bool folded = false;
  /// Of each row, the looks of its cells, as above; empty: none has one.
  std::vector<std::vector<std::string>> marks = {};
};

struct PageItem {
  std::string text;
  std::vector<PageLink> links = {};
};

struct PageSection {
  std::string id;
  std::string heading;
  std::vector<std::string> lines = {};
  std::vector<DrawnChart> charts = {};
  std::vector<PageItem> items = {};
  std::vector<PageTable> tables = {};
  /// Below the tables.
  std::string note = {};
};

struct SectionedPage {
  /// Of the window, and its kind and other facts above the headline.
  std::string title;
  std::vector<std::string> facts;
  /// The verdict.
  std::string headline;
  std::vector<std::string> lines = {};
  /// The data behind the page.
  std::vector<PageLink> links = {};
  /// Those without content are left out.
  std::vector<PageSection> sections = {};
};

std::string sectioned_page(const SectionedPage& page);

}  // namespace gpubench
