#include "core/results/csv.h"

#include <algorithm>
#include <csv.h>
#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/input_limits.h"
#include "core/base/interrupt.h"

namespace gpubench {
namespace {

void add_field(std::string& line, std::string_view field) {
  const auto is_blank = [](char c) { return c == ' ' || c == '\t'; };
  const bool blank_edge = !field.empty() && (is_blank(field.front()) || is_blank(field.back()));
  if (!blank_edge && field.find_first_of(",\"\r\n") == std::string_view::npos) {
    line += field;
    return;
  }
  line += '"';
  for (const char c : field) {
    if (c == '"') line += '"';
    line += c;
  }
  line += '"';
}

constexpr char apostrophe = '\'';

/// Also with apostrophes in front, so that each text has one field.
bool is_formula(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(apostrophe), text.size()));
  return !text.empty() && std::string_view("=+-@\t\r").find(text.front()) != std::string_view::npos;
}

struct Rows {
  std::vector<std::vector<std::string>> rows{1};
  std::size_t cells = 0;
  bool too_wide = false;
};

void on_field(void* text, std::size_t size, void* context) {
  Rows& all = *static_cast<Rows*>(context);
  if (++all.cells > most_table_cells || all.too_wide) return;  // parse_csv() refuses it after this piece
  all.too_wide = all.rows.back().size() == most_columns;
  if (!all.too_wide) all.rows.back().emplace_back(static_cast<const char*>(text), size);
}

void on_row(int, void* context) {
  Rows& all = *static_cast<Rows*>(context);
  if (all.cells <= most_table_cells && !all.too_wide) all.rows.emplace_back();
}

void check_limits(const Rows& all, std::string_view what) {
  const std::size_t row = all.rows.size();
  if (all.too_wide) throw Error(fmt::format("{}: row {} has more than {} columns", what, row, most_columns));
  if (all.cells > most_table_cells)
    throw Error(fmt::format("{}: more than {} cells, which end in row {}", what, most_table_cells, row));
}

}  // namespace

std::string to_csv(const Cell& cell) {
  std::string text = to_text(cell);
  if (std::holds_alternative<std::string>(cell) && is_formula(text)) text.insert(text.begin(), apostrophe);
  return text;
}

Cell cell_of_csv(std::string_view field, bool is_text) {
  if (field.starts_with(apostrophe) && is_formula(field)) return std::string(field.substr(1));
  return parse_cell(field, is_text);
}

std::string csv_line(const std::vector<std::string>& fields) {
  std::string line;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (i > 0) line += ',';
    add_field(line, fields[i]);
  }
  return line + "\r\n";
}

std::string_view whole_csv_lines(std::string_view text) {
  std::size_t end = 0;
  bool quoted = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '"') quoted = !quoted;
    if (text[at] == '\n' && !quoted) end = at + 1;
  }
  return text.substr(0, end);
}

void check_table_size(std::size_t rows, std::size_t columns, std::string_view what) {
  if (columns > most_columns)
    throw Error(fmt::format("{}: {} columns; at most {} are possible", what, columns, most_columns));
  if (rows * columns > most_table_cells)
    throw Error(fmt::format("{}: a table of {} rows and {} columns; at most {} cells are possible", what, rows, columns,
                            most_table_cells));
}

std::vector<std::vector<std::string>> parse_csv(std::string_view text, std::string_view what) {
  csv_parser parser;
  if (csv_init(&parser, CSV_STRICT | CSV_STRICT_FINI) != 0) throw Error(fmt::format("{}: libcsv did not start", what));
  Rows rows;
  // libcsv's callbacks cannot end it.
  constexpr std::size_t piece = std::size_t{64} << 10;
  bool ended = true;
  try {
    for (std::size_t at = 0; at < text.size() && ended; at += piece) {
      if (is_turn_of_script()) check_interrupt();  // the program's own reading is part of what it finishes
      const std::string_view part = text.substr(at, piece);
      ended = csv_parse(&parser, part.data(), part.size(), on_field, on_row, &rows) == part.size();
      check_limits(rows, what);
    }
    ended = ended && csv_fini(&parser, on_field, on_row, &rows) == 0;
    check_limits(rows, what);
  } catch (...) {
    csv_free(&parser);
    throw;
  }
  const int error = csv_error(&parser);
  csv_free(&parser);
  if (!ended) throw Error(fmt::format("{}: row {}: {}", what, rows.rows.size(), csv_strerror(error)));
  rows.rows.pop_back();
  return std::move(rows.rows);
}

}  // namespace gpubench
