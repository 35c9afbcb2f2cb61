// A table of text with formatted cells, and its two plain renderings.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

namespace gpubench {

enum class Align { left, right };

/// Blanks between columns of text.
inline constexpr std::size_t column_gap = 2;

struct Table {
  struct Heading {
    std::string text;
    Align align = Align::left;
    /// The column's meaning, for renderings that can show it on demand; may be empty.
    std::string description = {};
  };
  std::vector<Heading> headings;
  /// Each row has one cell per heading.
  std::vector<std::vector<std::string>> rows;
};

/// Aligned by display width, two spaces between columns, a rule below the headings.
std::string render_text(const Table& table);
std::string render_markdown(const Table& table);

}  // namespace gpubench
