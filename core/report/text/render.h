// Renders a run as at its end and in the formats of `gpubench show`: text and Markdown with scaled units for people,
// CSV and JSON with plain SI values.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "core/results/run_reader.h"

namespace gpubench {

enum class Format { text, csv, json, markdown, junit };

/// Throws Error that lists the formats.
Format parse_format(std::string_view name);

/// How text looks where it is read.
struct TextStyle {
  /// Columns of the terminal; 0: no terminal, lines of any width.
  std::size_t width = 0;
  bool color = false;
  /// All columns of the table; else the axes and the figures that claims and charts are about.
  bool all_columns = false;
  /// Why points failed was printed when it happened, on the same terminal: their rows only say that they did.
  bool failures_told = false;
};

std::string render(const Run& run, Format format, const TextStyle& style = {});

/// What a run prints above its rows, which a RowStream prints as they come.
std::string opening_text(const Run& run, const TextStyle& style);
/// What a run prints below its rows, which had these headings: what they do not show, verdicts and answers.
std::string closing_text(const Run& run, const TextStyle& style, const std::vector<std::string>& headings);

/// The axes in run.json; empty if it has none.
std::vector<std::string> axis_names(const Run& run);

}  // namespace gpubench
