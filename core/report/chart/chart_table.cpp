#include "core/report/chart/chart_table.h"

#include <algorithm>
#include <cstdint>
#include <fmt/format.h>
#include <utility>

#include "core/base/units.h"
#include "core/report/chart/gnuplot_axes.h"
#include "core/report/text/text.h"

namespace gpubench {
namespace {

// More of them are counted and not named.
constexpr std::size_t most_names = 8;

std::string x_text(const Chart& chart, double x, const std::string& own_text) {
  if (!own_text.empty()) return own_text;
  return chart.categories.empty() ? number_text(x) : chart.categories[static_cast<std::size_t>(x)];
}

std::string figure_text(double value) {
  return fmt::format("{:.4g}", value);
}

std::string note_of(const ChartPoint& point) {
  std::string note = point.label;
  if (point.unreliable) note += note.empty() ? "unreliable" : ", unreliable";
  if (!point.verdict.empty()) note += (note.empty() ? "" : "; ") + point.verdict;
  return note;
}

}  // namespace

std::size_t figure_count(const Chart& chart) {
  std::size_t count = chart.absent.size();
  for (const ChartSeries& series : chart.series) count += series.points.size() + series.failed.size();
  return count;
}

Table chart_table(const Chart& chart, std::size_t most) {
  const bool has_series =
      chart.absent.size() + chart.series.size() > 1 || (!chart.series.empty() && !chart.series[0].name.empty());
  Table table;
  const auto x_align = chart.categories.empty() ? Align::right : Align::left;
  table.headings.push_back({chart.x_label + chart.at_points, x_align});
  if (has_series) table.headings.push_back({"series"});
  table.headings.insert(table.headings.end(), {{chart.y_label, Align::right}, {"95 % interval"}, {"note"}});
  const auto add = [&](std::string x, const std::string& series, std::string y, std::string interval,
                       std::string note) {
    if (table.rows.size() >= most) return;
    std::vector<std::string> row{std::move(x)};
    if (has_series) row.push_back(series);
    for (std::string* text : {&y, &interval, &note}) row.push_back(std::move(*text));
    table.rows.push_back(std::move(row));
  };
  for (const ChartSeries& series : chart.series) {
    for (const ChartPoint& point : series.points) {
      const std::string interval =
          point.interval ? fmt::format("{} to {}", figure_text(point.interval->low), figure_text(point.interval->high))
                         : "";
      add(x_text(chart, point.x, point.x_text), series.name, figure_text(point.y), interval, note_of(point));
    }
    for (const FailedPoint& point : series.failed)
      add(x_text(chart, point.x, point.x_text), series.name, "", "", point.reason);
  }
  for (const AbsentSeries& absent : chart.absent) add("", absent.name, "", "", "no points: " + absent.reason);
  return table;
}

std::string describe(const Chart& chart) {
  const bool has_points = chart.is_scatter || chart.spec.kind == ChartKind::interval;
  const char* const kind = has_points                           ? "Points"
                           : chart.spec.kind == ChartKind::bar  ? "Bars"
                           : chart.spec.kind == ChartKind::heat ? "Cells"
                                                                : "Lines";
  const auto [low, high] = chart.y_range;
  std::string text = fmt::format("{}. {}: {} from {} to {} by {}", one_line(chart.spec.title), kind, chart.y_label,
                                 figure_text(low), figure_text(high), chart.x_label);
  const std::size_t count = chart.series.size();
  if (count > most_names) return text + fmt::format(", for {} series.", count);
  for (std::size_t i = 0; i < count; ++i) {
    if (chart.series[i].name.empty()) continue;
    text += (i == 0 ? ", for " : i + 1 == count ? " and " : ", ") + chart.series[i].name;
  }
  return text + ".";
}

std::string left_out_text(const Chart& chart) {
  std::string text;
  for (const PointsWithoutFigure& one : chart.without_figure) {
    const std::string points = format_count(static_cast<std::int64_t>(one.points), "point");
    text += fmt::format("{}{} {} no {}{}{}.", text.empty() ? "" : " ", points, one.points == 1 ? "has" : "have",
                        one.figure, one.reason.empty() ? "" : ": ", one.reason);
  }
  return text;
}

}  // namespace gpubench
