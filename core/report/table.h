// A table of text, already formatted cell by cell, and its two plain renderings.
#pragma once
#include <string>
#include <vector>

namespace gpubench {

enum class Align { left, right };

struct Table {
  struct Heading {
    std::string text;
    Align align = Align::left;
    /// What it means, for renderings that can show it when asked; may be empty.
    std::string description = {};
  };
  std::vector<Heading> headings;
  /// As many cells a row as there are headings.
  std::vector<std::vector<std::string>> rows;
};

/// Aligned by display width, two spaces between columns, a rule below the headings.
std::string render_text(const Table& table);
std::string render_markdown(const Table& table);

}  // namespace gpubench
