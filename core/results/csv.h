// Comma-separated values by RFC 4180: CRLF line ends, quotes only where needed. Written by our own code, read with
// libcsv.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "core/results/cell.h"

namespace gpubench {

/// A cell as a field: to_text(), but for text that spreadsheets take for a formula (`=1+1`), which gets an apostrophe
/// in front. Numbers stay as they are.
std::string to_csv(const Cell& cell);
/// The inverse, as parse_cell().
Cell cell_of_csv(std::string_view field, bool is_text);

/// One line including its CRLF.
std::string csv_line(const std::vector<std::string>& fields);

/// `text` without an incomplete last line, which a program leaves that dies while it writes.
std::string_view whole_csv_lines(std::string_view text);

/// Throws Error for more than most_columns, and for more than most_table_cells, as a table of so many rows would have.
void check_table_size(std::size_t rows, std::size_t columns, std::string_view what);

/// Parses all lines; blank lines are skipped. Throws Error for malformed text, and for more than most_columns and
/// most_table_cells (core/base/input_limits.h), in a message that starts with `what`.
std::vector<std::vector<std::string>> parse_csv(std::string_view text, std::string_view what);

}  // namespace gpubench
