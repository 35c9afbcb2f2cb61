#include "core/results/row_check.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <string>

#include "core/base/error.h"
#include "core/base/shown_text.h"
#include "core/results/column.h"

namespace gpubench {
namespace {

constexpr std::size_t most_columns_of_row = 1000;
/// Of a text in a message.
constexpr std::size_t most_shown = 60;

constexpr std::string_view returned = "run returned";

/// Standard columns by name, and by the names of their intervals' ends: rounds give an interval to any figure.
std::map<std::string, const Column*, std::less<>> columns_with_ends() {
  std::map<std::string, const Column*, std::less<>> columns;
  for (const Column& column : standard_columns()) {
    if (!column.is_text()) {
      for (const char* const end : {"low", "high"}) columns.emplace(interval_end(column, end), &column);
    }
  }
  for (const Column& column : standard_columns()) columns[column.name] = &column;
  return columns;
}

const Column* standard_column_of(std::string_view name) {
  static const std::map<std::string, const Column*, std::less<>> columns = columns_with_ends();
  const auto found = columns.find(name);
  return found == columns.end() ? nullptr : found->second;
}

std::string shown(const Cell& cell) {
  const auto* const text = std::get_if<std::string>(&cell);
  return text == nullptr ? to_text(cell) : "'" + shown_text(*text, most_shown) + "'";
}

bool takes(const Column& column, const Cell& cell) {
  if (is_empty(cell)) return true;
  return column.is_text() ? std::holds_alternative<std::string>(cell) : number_in(cell).has_value();
}

void check_status(const Cell& status) {
  constexpr std::array<std::string_view, 5> possible{"ok", "out_of_memory", "error", "timeout", "skipped"};
  if (std::ranges::find(possible, to_text(status)) != possible.end()) return;
  throw Error(fmt::format("{} the status {}; {} are possible", returned, shown(status), fmt::join(possible, ", ")));
}

}  // namespace

void check_cell(std::string_view column, const Cell& cell, std::string_view giver) {
  const Column* const standard = standard_column_of(column);
  if (standard == nullptr || takes(*standard, cell)) return;
  throw Error(fmt::format("{} {} in the column '{}', which takes {}: {}", giver, shown(cell), column,
                          standard->is_text() ? "text" : "a number", standard->description));
}

void check_returned_row(const Record& row) {
  if (row.cells().size() > most_columns_of_row)
    throw Error(fmt::format("{} a row of {} columns; at most {} are possible", returned, row.cells().size(),
                            most_columns_of_row));
  for (const auto& [name, cell] : row.cells()) check_column_name(name);
  for (const char* own : {"experiment", "point", "process", "point_time_s"})
    if (row.has(own)) throw Error(fmt::format("{} the column '{}', which the program fills in", returned, own));
  if (row.has("status")) check_status(row.get("status"));
  for (const auto& [name, cell] : row.cells()) check_cell(name, cell, returned);
}

bool is_not_number(const Cell& cell) {
  const auto* const value = std::get_if<double>(&cell);
  return value != nullptr && !std::isfinite(*value);
}

std::string not_numbers_in(const Record& row) {
  std::vector<std::string> texts;
  for (const auto& [column, cell] : row.cells()) {
    if (!is_not_number(cell)) continue;
    const double value = std::get<double>(cell);
    texts.push_back(fmt::format("{} is {}", column,
                                std::isnan(value)     ? "NaN"
                                : std::signbit(value) ? "-infinite"
                                                      : "infinite"));
  }
  std::ranges::sort(texts);
  return fmt::to_string(fmt::join(texts, ", "));
}

void note_not_numbers(Record& row) {
  const std::string text = not_numbers_in(row), detail = to_text(row.get("detail"));
  if (text.empty() || detail.find(text) != std::string::npos) return;
  row.set("detail", detail.empty() ? text : text + "; " + detail);
}

}  // namespace gpubench
