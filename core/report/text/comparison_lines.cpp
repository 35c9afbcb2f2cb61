#include "core/report/text/comparison_lines.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <unordered_map>
#include <utility>

#include "core/base/units.h"
#include "core/report/text/comparison.h"
#include "core/report/text/run_table.h"
#include "core/report/text/text.h"

namespace gpubench {
namespace {

std::string value_text(const Change& change, double value, std::size_t processes) {
  return processes == 0 ? "" : format_cell(value, change.column.unit);
}

std::string rate_text(const Change& change) {
  if (change.exact) return "exact";
  return change.false_positive_rate > 0 ? fmt::format("{:.2f} %", 100 * change.false_positive_rate) : "";
}

std::string visible_text(const Change& change) {
  return change.visible ? format_percent(*change.visible) : "";
}

std::string shown_change(const Change& change) {
  if (change.processes_before == 0 || change.processes_after == 0) return "";
  return text_of_change(change);
}

struct LineColumn {
  std::string heading;
  Align align;
  std::string (*text)(const PlacedChange&);
};

const std::array<LineColumn, change_columns> line_columns = {
    LineColumn{"verdict", Align::left, [](const PlacedChange& line) { return verdict_of(line); }},
    LineColumn{"row", Align::left, [](const PlacedChange& line) { return row_text(*line.row); }},
    LineColumn{"figure", Align::left, [](const PlacedChange& line) { return heading_of(line.change->column); }},
    LineColumn{"change", Align::left, [](const PlacedChange& line) { return shown_change(*line.change); }},
    LineColumn{"interval", Align::left, [](const PlacedChange& line) { return interval_text(*line.change); }},
    LineColumn{"false alarms", Align::right, [](const PlacedChange& line) { return rate_text(*line.change); }},
    LineColumn{"sees from", Align::right, [](const PlacedChange& line) { return visible_text(*line.change); }},
    LineColumn{"baseline", Align::right,
               [](const PlacedChange& line) {
                 return value_text(*line.change, line.change->before, line.change->processes_before);
               }},
    LineColumn{"compared", Align::right,
               [](const PlacedChange& line) {
                 return value_text(*line.change, line.change->after, line.change->processes_after);
               }},
};

}  // namespace

std::vector<PlacedChange> all_changes(const Comparison& comparison) {
  std::vector<PlacedChange> all;
  for (const ComparedRow& row : comparison.rows)
    for (const Change& change : row.changes) all.push_back({&row, &change});
  return all;
}

std::vector<PlacedChange> changes_of_side(const Comparison& comparison, std::size_t side) {
  std::vector<PlacedChange> changes = all_changes(comparison);
  std::erase_if(changes, [&](const PlacedChange& one) { return one.row->side != side; });
  std::ranges::stable_sort(changes, {}, [](const PlacedChange& one) { return one.change->verdict; });
  return changes;
}

std::string verdict_of(const PlacedChange& one) {
  return std::string(word_of(one.change->verdict, one.change->column));
}

Table change_table(const std::vector<PlacedChange>& lines, std::size_t columns, std::size_t row_width) {
  Table table;
  for (std::size_t i = 0; i < columns; ++i) table.headings.push_back({line_columns[i].heading, line_columns[i].align});
  for (const PlacedChange& line : lines) {
    std::vector<std::string> cells;
    for (std::size_t i = 0; i < columns; ++i) {
      std::string text = one_line(line_columns[i].text(line));
      cells.push_back(i == 1 && row_width > 0 ? shorten_middle(text, row_width) : text);
    }
    table.rows.push_back(std::move(cells));
  }
  return table;
}

std::vector<std::string> reasons_of(const std::vector<PlacedChange>& changes) {
  std::vector<std::pair<std::string, std::vector<const PlacedChange*>>> groups;
  std::unordered_map<std::string, std::size_t> places;
  for (const PlacedChange& one : changes) {
    if (one.change->reason.empty()) continue;
    const std::string text = verdict_of(one) + ": " + one.change->reason;
    const auto [place, is_new] = places.emplace(text, groups.size());
    if (is_new) groups.push_back({text, {}});
    groups[place->second].second.push_back(&one);
  }
  std::vector<std::string> texts;
  for (const auto& [reason, same] : groups) {
    const std::string where =
        same.size() > 1 ? fmt::format("{} comparisons", same.size())
                        : fmt::format("{}, {}", row_text(*same.front()->row), heading_of(same.front()->change->column));
    texts.push_back(fmt::format("{} ({})", reason, where));
  }
  return texts;
}

}  // namespace gpubench
