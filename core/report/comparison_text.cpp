// The comparison in a terminal: what differs, a table of the changes with the loudest first, reasons, and what to do
// next.
#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <map>

#include "core/base/units.h"
#include "core/report/comparison.h"
#include "core/report/run_table.h"
#include "core/report/table.h"
#include "core/report/text.h"

namespace gpubench {
namespace {

/// Up to so many rows that are SAME are shown without --wide.
constexpr std::size_t most_same_rows = 10;
constexpr std::size_t indent_of_rest = 4;

std::string value_text(const Change& change, double value, std::size_t processes) {
  return processes == 0 ? "" : format_cell(value, change.column.unit);
}

std::string rate_text(const Change& change) {
  if (change.exact) return "exact";
  return change.false_positive_rate > 0 ? fmt::format("{:.2f} %", 100 * change.false_positive_rate) : "";
}

std::string visible_text(const Change& change) {
  return change.visible ? fmt::format("{:.1f} %", 100 * *change.visible) : "";
}

std::string shown_change(const Change& change) {
  if (change.processes_before == 0 || change.processes_after == 0) return "";
  return text_of_change(change);
}

struct Line {
  const ComparedRow* row;
  const Change* change;
};

std::string verdict_of_line(const Line& line) {
  return std::string(word_of(line.change->verdict, line.change->column));
}

/// The columns, the ones that a narrow window drops last coming first.
struct LineColumn {
  std::string heading;
  Align align;
  std::string (*text)(const Line&);
};

const std::array line_columns = {
    LineColumn{"verdict", Align::left, [](const Line& line) { return verdict_of_line(line); }},
    LineColumn{"row", Align::left, [](const Line& line) { return row_text(*line.row); }},
    LineColumn{"figure", Align::left, [](const Line& line) { return heading_of(line.change->column); }},
    LineColumn{"change", Align::left, [](const Line& line) { return shown_change(*line.change); }},
    LineColumn{"interval", Align::left, [](const Line& line) { return interval_text(*line.change); }},
    LineColumn{"false alarms", Align::right, [](const Line& line) { return rate_text(*line.change); }},
    LineColumn{"sees from", Align::right, [](const Line& line) { return visible_text(*line.change); }},
    LineColumn{
        "baseline", Align::right,
        [](const Line& line) { return value_text(*line.change, line.change->before, line.change->processes_before); }},
    LineColumn{
        "compared", Align::right,
        [](const Line& line) { return value_text(*line.change, line.change->after, line.change->processes_after); }},
};

Table table_of(const std::vector<Line>& lines, std::size_t columns, std::size_t row_width) {
  Table table;
  for (std::size_t i = 0; i < columns; ++i) table.headings.push_back({line_columns[i].heading, line_columns[i].align});
  for (const Line& line : lines) {
    std::vector<std::string> cells;
    for (std::size_t i = 0; i < columns; ++i) {
      std::string text = one_line(line_columns[i].text(line));
      cells.push_back(i == 1 && row_width > 0 ? shorten_middle(text, row_width) : text);
    }
    table.rows.push_back(std::move(cells));
  }
  return table;
}

std::size_t width_of_table(const std::string& text) {
  return display_width(text.substr(0, text.find('\n')));
}

/// Drops columns, then shortens the rows' names, until it fits.
std::string fitting_table(const std::vector<Line>& lines, std::size_t width) {
  constexpr std::size_t least_columns = 4, least_row = 12;
  std::size_t columns = line_columns.size();
  std::size_t longest = 0;
  for (const Line& line : lines) longest = std::max(longest, display_width(row_text(*line.row)));
  std::string text = render_text(table_of(lines, columns, 0));
  const auto rule_width = [&] {
    const std::size_t begin = text.find('\n') + 1;
    return std::max(width_of_table(text), width_of_table(text.substr(begin)));
  };
  while (width > 0 && rule_width() > width) {
    const std::size_t excess = rule_width() - width;
    if (longest > excess + 2 * least_row) {
      return render_text(table_of(lines, columns, longest - excess));
    }
    if (columns == least_columns)
      return render_text(table_of(lines, columns, std::max(longest - std::min(longest, excess), least_row)));
    text = render_text(table_of(lines, --columns, 0));
  }
  return text;
}

std::string sides_text(const Comparison& comparison) {
  std::string text;
  for (std::size_t i = 0; i < comparison.sides.size(); ++i)
    text += fmt::format("{:<9} {}, {}\n", i == 0 ? "baseline" : "compared", one_line(comparison.sides[i].name),
                        format_count(static_cast<std::int64_t>(comparison.sides[i].processes), "process"));
  return text;
}

std::string differences_text(const Comparison& comparison, const TextStyle& style) {
  if (comparison.differences.empty()) return "";
  std::string text = "\n";
  for (const Difference& one : comparison.differences) {
    std::string values;
    for (const std::string& value : one.values) values += (values.empty() ? "" : " -> ") + value;
    text += wrap_words(fmt::format("{} differs: {}: {}", to_string(one.origin), one.key, values), 0, indent_of_rest,
                       style.width);
  }
  return text;
}

/// One line for all that have the same reason.
std::string reasons_text(const std::vector<Line>& lines, const TextStyle& style) {
  std::vector<std::pair<std::string, std::vector<const Line*>>> groups;
  for (const Line& line : lines) {
    if (line.change->reason.empty()) continue;
    const std::string text = verdict_of_line(line) + ": " + line.change->reason;
    auto found = std::ranges::find(groups, text, [](const auto& group) { return group.first; });
    if (found == groups.end()) found = groups.insert(groups.end(), {text, {}});
    found->second.push_back(&line);
  }
  std::string text;
  for (const auto& [reason, same] : groups) {
    const std::string where =
        same.size() > 1 ? fmt::format("{} comparisons", same.size())
                        : fmt::format("{}, {}", row_text(*same.front()->row), heading_of(same.front()->change->column));
    text += wrap_words(fmt::format("{} ({})", reason, where), 0, indent_of_rest, style.width);
  }
  return text.empty() ? text : "\n" + text;
}

bool is_same(const Line& line) {
  return line.change->verdict == ChangeVerdict::same;
}

std::string section_of(const Comparison& comparison, std::size_t side, const TextStyle& style) {
  std::vector<Line> lines;
  for (const ComparedRow& row : comparison.rows)
    if (row.side == side)
      for (const Change& change : row.changes) lines.push_back({&row, &change});
  if (lines.empty()) return "";
  std::ranges::stable_sort(lines, {}, [](const Line& line) { return line.change->verdict; });
  const auto same = static_cast<std::size_t>(std::ranges::count_if(lines, is_same));
  const bool folds = !style.all_columns && same > most_same_rows;
  if (folds) std::erase_if(lines, is_same);
  std::string text = "\n";
  if (comparison.sides.size() > 2) text += fmt::format("{}:\n", one_line(comparison.sides[side].name));
  if (!lines.empty()) text += fitting_table(lines, style.all_columns ? 0 : style.width);
  if (folds) text += fmt::format("{} SAME; --wide shows them\n", same);
  text += reasons_text(lines, style);
  const auto is_called = [](const Line& line) { return line.change->verdict <= ChangeVerdict::changed; };
  if (std::ranges::any_of(lines, is_called))
    text += "\n" + wrap_words("possible causes: " + comparison.causes[side], 0, indent_of_rest, style.width);
  return text;
}

}  // namespace

std::string text_of_comparison(const Comparison& comparison, const TextStyle& style) {
  const auto wrapped_line = [&](const std::string& text) { return wrap_words(text, 0, indent_of_rest, style.width); };
  std::string text = wrapped_line(headline_of(comparison)) + "\n" + sides_text(comparison);
  text += differences_text(comparison, style);
  for (std::size_t side = 1; side < comparison.sides.size(); ++side) text += section_of(comparison, side, style);
  text += "\n" + wrapped_line(counts_of(comparison));
  for (const GeometricMean& mean : comparison.means) text += wrapped_line(mean_text(comparison, mean));
  text += wrapped_line(trust_text(comparison));
  const std::string next = next_step_text(comparison);
  return next.empty() ? text : text + wrapped_line("to settle what is ambiguous, " + next);
}

}  // namespace gpubench
