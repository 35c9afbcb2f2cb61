// The comparison in a terminal: what differs, a table of the changes with the loudest first, reasons, and what to do
// next.
#include <algorithm>
#include <fmt/format.h>

#include "core/base/units.h"
#include "core/report/text/comparison.h"
#include "core/report/text/comparison_lines.h"
#include "core/report/text/table.h"
#include "core/report/text/text.h"

namespace gpubench {
namespace {

/// Up to so many rows that are SAME are shown without --wide.
constexpr std::size_t most_same_rows = 10;
constexpr std::size_t indent_of_rest = 4;

std::size_t width_of_table(const std::string& text) {
  return display_width(text.substr(0, text.find('\n')));
}

/// Drops columns, then shortens the rows' names, until it fits.
std::string fitting_table(const std::vector<PlacedChange>& lines, std::size_t width) {
  constexpr std::size_t least_columns = 4, least_row = 12;
  std::size_t columns = change_columns;
  std::size_t longest = 0;
  for (const PlacedChange& line : lines) longest = std::max(longest, display_width(row_text(*line.row)));
  std::string text = render_text(change_table(lines, columns, 0));
  const auto rule_width = [&] {
    const std::size_t begin = text.find('\n') + 1;
    return std::max(width_of_table(text), width_of_table(text.substr(begin)));
  };
  while (width > 0 && rule_width() > width) {
    const std::size_t excess = rule_width() - width;
    if (longest > excess + 2 * least_row) {
      return render_text(change_table(lines, columns, longest - excess));
    }
    if (columns == least_columns)
      return render_text(change_table(lines, columns, std::max(longest - std::min(longest, excess), least_row)));
    text = render_text(change_table(lines, --columns, 0));
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

std::string reasons_text(const std::vector<PlacedChange>& lines, const TextStyle& style) {
  std::string text;
  for (const std::string& reason : reasons_of(lines)) text += wrap_words(reason, 0, indent_of_rest, style.width);
  return text.empty() ? text : "\n" + text;
}

bool is_same(const PlacedChange& line) {
  return line.change->verdict == ChangeVerdict::same;
}

std::string section_of(const Comparison& comparison, std::size_t side, const TextStyle& style) {
  std::vector<PlacedChange> lines = changes_of_side(comparison, side);
  if (lines.empty()) return "";
  const auto same = static_cast<std::size_t>(std::ranges::count_if(lines, is_same));
  const bool folds = !style.all_columns && same > most_same_rows;
  if (folds) std::erase_if(lines, is_same);
  std::string text = "\n";
  if (comparison.sides.size() > 2) text += fmt::format("{}:\n", one_line(comparison.sides[side].name));
  if (!lines.empty()) text += fitting_table(lines, style.all_columns ? 0 : style.width);
  if (folds) text += fmt::format("{} SAME; --wide shows them\n", same);
  text += reasons_text(lines, style);
  const auto is_called = [](const PlacedChange& line) { return line.change->verdict <= ChangeVerdict::changed; };
  if (std::ranges::any_of(lines, is_called))
    text += "\n" + wrap_words("possible causes: " + comparison.causes[side], 0, indent_of_rest, style.width);
  if (const std::string where = where_time_went(comparison, side); !where.empty())
    text += wrap_words("where the time went: " + where, 0, indent_of_rest, style.width);
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
  // Not wrapped: a command that is copied with a line break would be two.
  return next.empty() ? text : text + "to settle what is ambiguous, " + next + "\n";
}

}  // namespace gpubench
