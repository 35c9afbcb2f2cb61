#include "core/report/page/side_latex.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/compare/match.h"
#include "core/compare/row_changes.h"
#include "core/report/chart/scale.h"
#include "core/report/page/method_text.h"
#include "core/report/page/side_rows.h"
#include "core/report/text/render.h"
#include "core/report/text/run_table.h"
#include "core/report/text/text.h"
#include "core/results/doubt.h"

namespace gpubench {
namespace {

constexpr std::size_t latex_width = 100;
constexpr std::string_view missing_figure = "---", doubt_mark = "$^\\dagger$";

/// The figures of an experiment's table, in the order of the columns.
std::vector<Column> table_figures(std::span<const MatchedRow> rows, const std::string& experiment,
                                  const ComparisonOptions& options) {
  std::vector<Column> figures;
  std::set<std::string> seen;
  for (const MatchedRow& row : rows) {
    if (row.key.experiment != experiment || !row.measured(0)) continue;
    for (Column& column : chosen_figures(row, options))
      if (seen.insert(column.name).second) figures.push_back(std::move(column));
  }
  return figures;
}

/// Decimals that show two digits of an interval's half-width, or four of a figure without an interval.
int decimals_of_figure(double value, double half_width) {
  constexpr int most = 9;
  const bool has_width = std::isfinite(half_width) && half_width > 0;
  if (!has_width && value == std::round(value)) return 0;
  const double size = has_width ? half_width : std::abs(value);
  return std::clamp((has_width ? 1 : 3) - static_cast<int>(std::floor(std::log10(size))), 0, most);
}

std::string latex_number(double value, int decimals) {
  const std::string text = fmt::format("{:.{}f}", value, decimals);
  return text.starts_with('-') ? "$-$" + text.substr(1) : text;
}

std::optional<double> finite_figure(const Record& record, const std::string& column) {
  const std::optional<double> value = number_in(record.get(column));
  return value && std::isfinite(*value) ? value : std::nullopt;
}

/// "1.23 [1.20, 1.26]" in the unit of the heading.
std::string latex_figure(const Record& record, const Column& column, double factor) {
  const std::optional<double> value = finite_figure(record, column.name);
  if (!value)
    return record.has(column.name) ? escape_latex(to_text(record.get(column.name))) : std::string(missing_figure);
  const std::optional<double> low = finite_figure(record, interval_end(column, "low")),
                              high = finite_figure(record, interval_end(column, "high"));
  const bool has_interval = low && high;
  const int decimals = decimals_of_figure(factor * *value, has_interval ? factor * (*high - *low) / 2 : 0);
  std::string text = latex_number(factor * *value, decimals);
  if (has_interval)
    text += fmt::format(" [{}, {}]", latex_number(factor * *low, decimals), latex_number(factor * *high, decimals));
  const std::string_view quality = quality_column(column.kind);
  if (!quality.empty() && doubt_in(record, quality)) text += doubt_mark;
  return text;
}

/// The columns of a table side by side: their alignments, headings and cells.
class LatexColumns {
 public:
  explicit LatexColumns(std::span<const Record> rows) : rows_(rows), lines_(rows.size()) {}

  template <class CellOf>
  void add(std::string_view heading, char alignment, CellOf cell_of) {
    const std::string_view before = alignments_.empty() ? "" : " & ";
    alignments_ += alignment;
    headings_ += fmt::format("{}{}", before, escape_latex(heading));
    for (std::size_t i = 0; i < rows_.size(); ++i) lines_[i] += fmt::format("{}{}", before, cell_of(rows_[i]));
  }

  std::string tabular() const {
    std::string text =
        fmt::format("\\begin{{tabular}}{{{}}}\n  \\hline\n  {} \\\\\n  \\hline\n", alignments_, headings_);
    for (const std::string& line : lines_) text += fmt::format("  {} \\\\\n", line);
    return text + "  \\hline\n\\end{tabular}\n";
  }

 private:
  std::span<const Record> rows_;
  std::string alignments_, headings_;
  std::vector<std::string> lines_;
};

std::string latex_table(const Run& run, std::span<const Column> figures) {
  const std::vector<Record> rows = rows_to_show(run.records);
  LatexColumns columns(rows);
  for (const std::string& axis : axis_names(run)) {
    const Column& column = *std::ranges::find(run.columns, axis, &Column::name);
    const bool is_number =
        std::ranges::all_of(rows, [&](const Record& row) { return number_in(row.get(axis)) || !row.has(axis); });
    columns.add(heading_of(column), is_number ? 'r' : 'l',
                [&](const Record& row) { return escape_latex(format_cell(row.get(axis), column.unit)); });
  }
  for (const Column& column : figures) {
    double largest = 0;
    for (const Record& row : rows) largest = std::max(largest, std::abs(finite_figure(row, column.name).value_or(0)));
    const AxisScale scale = axis_scale(column, largest);
    columns.add(scale.label, 'r', [&](const Record& row) { return latex_figure(row, column, scale.factor); });
  }
  return columns.tabular();
}

/// What a dagger in the tables means; empty if there is none.
std::string doubts_sentence(std::span<const Run> runs, std::span<const Column> figures) {
  std::set<std::string_view> qualities;
  for (const Column& column : figures) qualities.insert(quality_column(column.kind));
  qualities.erase("");
  std::set<std::string> texts;
  for (const Run& run : runs)
    for (const Record& row : run.records)
      for (const std::string_view quality : qualities)
        if (const Doubt doubt = doubt_in(row, quality)) texts.insert(doubt.text);
  if (texts.empty()) return "";
  return fmt::format("{} Unreliable: {}.", doubt_mark, escape_latex(fmt::format("{}", fmt::join(texts, "; "))));
}

/// Rows that have no figures, and why.
std::string failures_sentence(std::span<const MatchedRow> rows) {
  std::string text;
  for (const MatchedRow& row : rows) {
    if (row.measured(0)) continue;
    const auto failed =
        std::ranges::find_if(row.sides.front(), [](const RowOfProcess& one) { return !one.failure.empty(); });
    if (failed == row.sides.front().end() || failed->failure.starts_with("skipped")) continue;
    std::string status = failed->failure.substr(0, failed->failure.find(':'));
    std::ranges::replace(status, '_', ' ');
    text += fmt::format("{}{} ({})", text.empty() ? "" : "; ", row.key.text(), status);
  }
  return text.empty() ? "" : escape_latex("Without figures: " + text + ".");
}

}  // namespace

std::string side_latex(const Side& side, const ComparisonOptions& options) {
  const std::span<const Side> sides(&side, 1);
  const std::vector<MatchedRow> rows = match_rows(sides);
  check_figures(rows, options);
  const std::vector<Run> runs = runs_of_sides(sides);
  std::vector<Column> shown;
  std::string text = fmt::format("% gpubench report {} --format latex\n", one_line(side.name));
  for (const Run& run : runs) {
    const std::string experiment = run.info.text("experiment");
    const std::vector<Column> figures = table_figures(rows, experiment, options);
    if (figures.empty()) continue;
    text += fmt::format("\n% {}: {}\n{}", one_line(experiment), one_line(run.info.text("title")),
                        latex_table(run, figures));
    for (const Column& column : figures)
      if (std::ranges::find(shown, column.name, &Column::name) == shown.end()) shown.push_back(column);
  }
  if (shown.empty())
    throw Error(
        fmt::format("report: '{}' has no row that was measured, so there is no table; its page says why: "
                    "gpubench report {}",
                    side.name, side.name));
  std::string method = escape_latex(method_text(side, rows, shown));
  for (const std::string& sentence : {doubts_sentence(runs, shown), failures_sentence(rows)})
    if (!sentence.empty()) method += " " + sentence;
  return text + "\n\\noindent\\textbf{How it was measured.}\n" + wrap_words(method, 0, 0, latex_width);
}

}  // namespace gpubench
