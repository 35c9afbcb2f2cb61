#include "core/report/chart/gnuplot_heat.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <vector>

#include "core/report/chart/gnuplot.h"
#include "core/report/chart/gnuplot_axes.h"
#include "core/report/text/text.h"

namespace gpubench {
namespace {

// Longest name of a row, and reason in a cell that has no figure.
constexpr std::size_t row_width = 22;
// Shades: a cell with the smallest figure still has one, and text on the darkest can be read.
constexpr double lightest = 0.06, darkest = 0.5;
// Characters side by side in all cells of a row; figures of more columns would run into each other.
constexpr std::size_t cells_width = 50;

double shade_of(const Chart& chart, double value) {
  Interval range = chart.y_range;
  if (chart.spec.log_y != 0 && range.low > 0) {
    value = std::log(value);
    range = {std::log(range.low), std::log(range.high)};
  }
  const double share = range.high > range.low ? (value - range.low) / (range.high - range.low) : 0.5;
  return lightest + (darkest - lightest) * std::clamp(share, 0.0, 1.0);
}

// The first series is the upper row.
double place_of(const Chart& chart, std::size_t row) {
  return static_cast<double>(heat_rows(chart) - 1 - row);
}

std::string cell_text(const std::string& text) {
  std::string safe = one_line(text);
  std::ranges::replace(safe, '"', '\'');
  std::ranges::replace(safe, '\\', '/');
  return '"' + safe + '"';
}

std::string row_ticks(const Chart& chart) {
  std::vector<std::string> ticks;
  const auto add = [&](const std::string& name) {
    std::string text = shorten(one_line(name), row_width), doubled;
    for (const char c : text) doubled += c == '%' ? "%%" : std::string(1, c);
    ticks.push_back(fmt::format("{} {}", quote_gnuplot(doubled), place_of(chart, ticks.size())));
  };
  for (const ChartSeries& series : chart.series) add(series.name);
  for (const AbsentSeries& absent : chart.absent) add(absent.name);
  return fmt::format("set ytics ({}) scale 0\n", fmt::join(ticks, ", "));
}

std::string rectangles(const Chart& chart) {
  std::string text;
  for (std::size_t row = 0; row < chart.series.size(); ++row) {
    const double y = place_of(chart, row);
    for (const ChartPoint& point : chart.series[row].points) {
      text += fmt::format(
          "set object rectangle from {},{} to {},{} behind fillcolor rgb '#0072b2' "
          "fillstyle transparent solid {:.3f} noborder\n",
          point.x - 0.48, y - 0.46, point.x + 0.48, y + 0.46, shade_of(chart, point.y));
    }
  }
  return text;
}

// Figures, and what became of cells without one.
std::string cells_block(const Chart& chart) {
  const bool has_room = cells_width / std::max<std::size_t>(chart.categories.size(), 1) >= 3;
  const std::size_t room = cells_width / std::max<std::size_t>(chart.categories.size(), 1);
  std::string block = "$cells << END\n";
  for (std::size_t row = 0; row < chart.series.size(); ++row) {
    const double y = place_of(chart, row);
    for (const ChartPoint& point : chart.series[row].points)
      block += fmt::format("{} {} {}\n", point.x, y, cell_text(has_room ? number_text(point.y) : ""));
    for (const FailedPoint& point : chart.series[row].failed)
      block += fmt::format("{} {} {}\n", point.x, y, cell_text(shorten(point.reason, std::max<std::size_t>(room, 3))));
  }
  for (std::size_t i = 0; i < chart.absent.size(); ++i)
    block += fmt::format("{} {} {}\n", 0.5 * static_cast<double>(chart.categories.size() - 1),
                         place_of(chart, chart.series.size() + i), cell_text(chart.absent[i].reason));
  return block + "END\n";
}

std::string rings_block(const Chart& chart) {
  if (!has_rings(chart)) return {};
  std::string block = "$unreliable << END\n";
  for (std::size_t row = 0; row < chart.series.size(); ++row) {
    for (const ChartPoint& point : chart.series[row].points)
      if (point.unreliable) block += fmt::format("{} {}\n", point.x + 0.4, place_of(chart, row) + 0.3);
  }
  return block + "END\n";
}

}  // namespace

std::size_t heat_rows(const Chart& chart) {
  return chart.series.size() + chart.absent.size();
}

std::string heat_commands(const Chart& chart) {
  const std::string meaning = fmt::format("{}{}; in the cells: {}{}", chart.x_label, chart.at_points, chart.y_label,
                                          chart.spec.log_y != 0 ? ", log shades" : "");
  return fmt::format("set xlabel {}\nunset grid\nset border 0\n",
                     quote_gnuplot(shorten(one_line(meaning), chart_characters))) +
         x_axis_commands(chart) + "set xtics scale 0\n" +
         fmt::format("set yrange [-0.5:{}]\n", static_cast<double>(heat_rows(chart)) - 0.5) + row_ticks(chart) +
         rectangles(chart) + cells_block(chart) + rings_block(chart);
}

std::string heat_plot(const Chart& chart) {
  std::string plot = "plot $cells using 1:2:3 with labels textcolor rgb text_grey notitle";
  if (has_rings(chart)) plot += ", $unreliable using 1:2 with points linestyle 9 title 'unreliable'";
  return plot + "\n";
}

}  // namespace gpubench
