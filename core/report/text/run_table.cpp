#include "core/report/text/run_table.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <iterator>
#include <map>
#include <optional>
#include <set>

#include "core/base/units.h"
#include "core/measure/estimate.h"
#include "core/report/text/text.h"

namespace gpubench {
namespace {

// Long or seldom filled columns, which stand at a row's end.
constexpr std::array<std::string_view, 8> shown_last = {"quality", "doubt",  "memory_quality", "memory_doubt",
                                                        "verdict", "status", "detail",         "stop_reason"};

// Text is not made narrower than this.
constexpr std::size_t narrow_text = 16;

template <class List>
bool contains(const List& list, std::string_view name) {
  return std::ranges::find(list, name) != std::ranges::end(list);
}

std::string format_number(double value, Unit unit) {
  if (!std::isfinite(value)) return to_text(Cell(value));
  switch (unit) {
    case Unit::seconds:
      return format_seconds(value);
    case Unit::bytes:
      return format_bytes(value);
    case Unit::bytes_per_second:
      return format_si(value) + "B/s";
    case Unit::flops:
      return format_si(value) + "FLOP";
    case Unit::flops_per_second:
      return format_si(value) + "FLOP/s";
    case Unit::per_second:
      return format_si(value);
    case Unit::share:
      return fmt::format("{:.1f} %", 100 * value);
    case Unit::watts:
      return fmt::format("{:.1f} W", value);
    case Unit::joules:
      return fmt::format("{:.3g} J", value);
    case Unit::hertz:
      return format_si(value) + "Hz";
    case Unit::celsius:
      return fmt::format("{:.0f} °C", value);
    case Unit::none:
      break;
  }
  return fmt::format("{:.4g}", value);
}

struct Shown {
  Table::Heading heading;
  std::vector<std::string> cells;
};

Shown shown_column(const Column& column, std::span<const Record> records) {
  Shown shown{{heading_of(column), Align::left, std::string(column.description)}, {}};
  bool numbers_only = true;
  for (const Record& record : records) {
    const Cell& cell = record.get(column.name);
    numbers_only = numbers_only && (is_empty(cell) || number_in(cell));
    shown.cells.push_back(format_cell(cell, column.unit));
  }
  if (numbers_only) shown.heading.align = Align::right;
  return shown;
}

bool all_empty(const std::vector<std::string>& cells) {
  return std::ranges::all_of(cells, [](const std::string& cell) { return cell.empty(); });
}

// The text of all cells, but for rows that failed before they had any; empty when texts differ or there is one row
// only.
std::string common_text(const std::vector<std::string>& cells, std::span<const Record> records) {
  if (cells.size() < 2) return "";
  std::string common;
  for (std::size_t row = 0; row < cells.size(); ++row) {
    const std::string& cell = cells[row];
    if (cell.empty() && records[row].get("status") == Cell(std::string("ok"))) return "";
    if (cell.empty() || cell == common) continue;
    if (!common.empty()) return "";
    common = cell;
  }
  return common;
}

// Text and counts that do not change are settings; other figures are worth their column even when they are equal.
bool is_setting(const Column& column, std::span<const Record> records) {
  return column.unit == Unit::none && std::ranges::none_of(records, [&](const Record& record) {
           return std::holds_alternative<double>(record.get(column.name));
         });
}

// Point, axes in their order, figures, what went wrong.
std::vector<Column> reading_order(std::span<const Column> columns, std::span<const std::string> axes) {
  const auto rank = [&](const Column& column) {
    if (column.name == "point") return -1.0;
    const auto axis = std::ranges::find(axes, column.name);
    if (axis != axes.end()) return static_cast<double>(axis - axes.begin());
    const auto last = std::ranges::find(shown_last, column.name);
    return static_cast<double>(axes.size()) +
           (last == shown_last.end() ? 0.0 : 1.0 + static_cast<double>(last - shown_last.begin()));
  };
  std::vector<Column> ordered(columns.begin(), columns.end());
  std::ranges::stable_sort(ordered, {}, rank);
  return ordered;
}

std::size_t width_of(const Table& table, std::size_t column) {
  std::size_t width = display_width(one_line(table.headings[column].text));
  for (const auto& row : table.rows) width = std::max(width, display_width(one_line(row[column])));
  return width;
}

// Removes `count` columns from `first` on.
void remove_columns(Table& table, std::size_t first, std::size_t count) {
  const auto erase = [&](auto& cells) {
    const auto begin = cells.begin() + static_cast<std::ptrdiff_t>(first);
    cells.erase(begin, begin + static_cast<std::ptrdiff_t>(count));
  };
  erase(table.headings);
  for (auto& row : table.rows) erase(row);
}

// Whether the column says only what every sound row says.
bool is_unremarkable(const Column& column, const std::vector<std::string>& cells) {
  const auto all_are = [&](std::string_view text) {
    return std::ranges::all_of(cells, [=](const std::string& cell) { return cell.empty() || cell == text; });
  };
  if (column.name == "status" || column.name == "quality" || column.name == "memory_quality") return all_are("ok");
  return column.name == "process" && all_are("0");
}

}  // namespace

std::string format_cell(const Cell& cell, Unit unit) {
  if (const auto* integer = std::get_if<std::int64_t>(&cell); integer && unit == Unit::none) return to_text(cell);
  const auto number = number_in(cell);
  return number ? format_number(*number, unit) : to_text(cell);
}

std::string heading_of(const Column& column) {
  if (column.name == "mfu") return "MFU";
  std::string text = column.name;
  // A share's name would lose its meaning: "compute share" is no "compute".
  if (column.unit != Unit::share && column.unit != Unit::none) text.erase(text.size() - unit_suffix(column).size());
  if (unit_suffix(column) == "_per_s") text += "/s";
  std::ranges::replace(text, '_', ' ');
  return text;
}

std::string format_step_error(const Record& record) {
  const auto value = number_in(record.get("step_time_s"));
  const auto low = number_in(record.get("step_time_low_s"));
  const auto high = number_in(record.get("step_time_high_s"));
  if (!value || !low || !high) return "";
  const double error = Estimate{*value, {*low, *high}}.relative_error();
  if (!std::isfinite(error)) return "";
  const double below = (*value - *low) / *value, above = (*high - *value) / *value;
  // Half the width of a lopsided interval would be a wrong end of it.
  constexpr double visible = 0.05, lopsided = 2;
  if (error > visible && std::max(below, above) > lopsided * std::min(below, above))
    return fmt::format("-{:.0f}/+{:.0f} %", 100 * below, 100 * above);
  return fmt::format("{:.1f} %", 100 * error);
}

bool is_remark(std::string_view column) {
  return contains(shown_last, column);
}

std::set<std::string> interval_ends(std::span<const Column> columns) {
  std::set<std::string> ends;
  for (const Column& column : columns) {
    for (const std::string_view end : {"low", "high"}) ends.insert(interval_end(column, end));
  }
  return ends;
}

RunTable run_table(std::span<const Column> columns, std::span<const Record> records, std::span<const std::string> axes,
                   Detail detail) {
  RunTable result;
  std::vector<Shown> shown;
  const std::set<std::string> ends = interval_ends(columns);
  for (const Column& column : reading_order(columns, axes)) {
    const bool is_axis = contains(axes, column.name);
    // The experiment is named above every table.
    if (!is_axis && (column.name == "experiment" || ends.contains(column.name))) continue;
    if (!is_axis && detail == Detail::brief && column.full_tables_only) continue;
    Shown next = shown_column(column, records);
    if (!is_axis && (all_empty(next.cells) || is_unremarkable(column, next.cells))) continue;
    const std::string common = is_axis || !is_setting(column, records) ? "" : common_text(next.cells, records);
    if (!common.empty() && column.name != "detail") {
      result.common.push_back({next.heading.text, common});
      continue;
    }
    shown.push_back(std::move(next));
    if (is_axis || column.name == "point") ++result.axes;
    if (is_remark(column.name)) ++result.problems;
    if (column.name != "step_time_s") continue;
    Shown error{
        {"±", Align::right,
         "half-width of the step time's 95 % interval, or its two ends where these differ by more than a factor of 2"},
        {}};
    for (const Record& record : records) error.cells.push_back(format_step_error(record));
    if (!all_empty(error.cells)) shown.push_back(std::move(error));
  }
  result.table.rows.resize(records.size());
  for (Shown& column : shown) {
    result.table.headings.push_back(std::move(column.heading));
    for (std::size_t row = 0; row < records.size(); ++row) {
      result.table.rows[row].push_back(std::move(column.cells[row]));
    }
  }
  return result;
}

bool is_skipped(const Record& record) {
  return record.get("status") == Cell(std::string("skipped"));
}

std::vector<Record> rows_to_show(std::span<const Record> records) {
  std::vector<Record> rows;
  std::ranges::copy_if(records, std::back_inserter(rows), [](const Record& record) { return !is_skipped(record); });
  std::ranges::stable_sort(rows, {}, [](const Record& record) { return number_in(record.get("point")).value_or(0); });
  return rows;
}

std::vector<SkippedPoints> skipped_points(std::span<const Record> records) {
  std::vector<SkippedPoints> all;
  std::map<std::string, std::size_t> places;
  for (const Record& record : records) {
    if (!is_skipped(record)) continue;
    const std::string reason = to_text(record.get("detail"));
    const auto [place, is_new] = places.emplace(reason, all.size());
    if (is_new) all.push_back({reason});
    all[place->second].points += 1;
  }
  return all;
}

int fit_width(RunTable& shown, std::size_t width) {
  Table& table = shown.table;
  if (width == 0) return 0;
  std::vector<std::size_t> widths;
  for (std::size_t i = 0; i < table.headings.size(); ++i) widths.push_back(width_of(table, i));
  const std::size_t first_problem = table.headings.size() - shown.problems;
  std::size_t whole = 0, needed = 0;
  for (std::size_t i = 0; i < widths.size(); ++i) {
    const std::size_t gap = i == 0 ? 0 : column_gap;
    whole += gap + widths[i];
    // Text that will be shortened must not cost a figure.
    needed += gap + (i < first_problem ? widths[i] : std::min(widths[i], narrow_text));
  }
  std::size_t removed = 0;
  while (needed > width && shown.axes + removed < first_problem) {
    const std::size_t own = widths[first_problem - ++removed] + column_gap;
    needed -= std::min(needed, own);
    whole -= std::min(whole, own);
  }
  const std::size_t first = first_problem - removed;
  remove_columns(table, first, removed);
  for (std::size_t i = first; i < table.headings.size() && whole > width; ++i) {
    const std::size_t own = widths[i + removed];
    const std::size_t room = std::max(own - std::min(own, whole - width), std::min(own, narrow_text));
    for (auto& row : table.rows) row[i] = shorten(one_line(row[i]), room);
    whole -= own - std::min(own, std::max(room, display_width(one_line(table.headings[i].text))));
  }
  return static_cast<int>(removed);
}

}  // namespace gpubench
